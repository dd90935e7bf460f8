"""The report on a class, as one page that fetches nothing."""
