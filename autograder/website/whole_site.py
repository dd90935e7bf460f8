"""What belongs to the whole site: the page for an address that does not exist, and the list of pages."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

NOT_FOUND = Markup("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>Not found · Language models from scratch</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem; font: 1.1rem/1.6 Charter, Georgia, serif;
  background: #fff; color: #1f2328; }}
h1 {{ font-size: 1.75rem; line-height: 1.25; text-wrap: balance; }}
a {{ color: #176de8; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #121212; color: #ced6dd; }}
  a {{ color: #5c9eff; }}
}}
</style>
</head>
<body>
<main>
<h1>Nothing comes next here</h1>
<p>There is no page at this address. The course begins on its
<a href="{first}">first page</a>. From there you can take <a href="{first}#the-path">the path</a>,
look a word up in the <a href="{first}glossary.html">glossary</a>,
or <a href="{first}search.html">search</a>.</p>
</main>
</body>
</html>
""")


def not_found(address: str) -> str:
    """A page that needs no other file, because it is shown at any address.

    address: where the site is published, or "" if that is not known.
    """
    return NOT_FOUND.format(first=f"{address}/")


def pages(site: Path) -> list[str]:
    """The site's pages in every language, without what the theme keeps in folders such as `de/_static`."""
    paths = (path.relative_to(site) for path in site.rglob("*.html"))
    return sorted(path.as_posix() for path in paths if not any(part.startswith("_") for part in path.parts))


def sitemap(site: Path, address: str) -> str:
    """The full addresses of all pages that search engines should find, in sitemaps.org's format."""
    listed = [page for page in pages(site) if not page.endswith(("404.html", "search.html"))]
    url = Markup("<url><loc>{}/{}</loc></url>\n")
    return Markup(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{}</urlset>\n'
    ).format(Markup("").join(url.format(address.rstrip("/"), page) for page in listed))
