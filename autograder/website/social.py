"""The picture that is shown with a link to the site in a message."""

from __future__ import annotations

import io

from course.ladder import read_recorded, summaries

INCHES, DOTS = (12, 6.3), 100  # 1200 × 630 pixels, as such pictures are


def social_picture() -> bytes:
    """The course's name over the recorded ladder, bits per word of every rung above the floor, as PNG."""
    import matplotlib.pyplot as plt

    results = read_recorded()
    rungs = [each for each in summaries(results) if each.title not in ("uniform", "unigram")]
    floor = results[0].floor
    drawing, axes = plt.subplots(figsize=INCHES)
    bits = [rung.bits_per_token for rung in rungs]
    axes.bar([rung.title for rung in rungs], [each - floor for each in bits], bottom=floor, color="#0072b2")
    axes.axhline(floor, color="#b35900", linewidth=3, linestyle="--")
    for x, height in enumerate(bits):
        axes.text(x, height + 0.02, f"{height:.2f}", ha="center", fontsize=15)
    axes.text(-0.4, floor - 0.09, f"the floor, {floor:.2f} bits a word", color="#b35900", fontsize=16)
    axes.set_ylim(floor - 0.15, max(bits) + 0.15)
    axes.set_title("Language models from scratch", fontsize=38, loc="left", pad=24)
    axes.tick_params(axis="x", labelsize=14, rotation=20, length=0)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    drawing.tight_layout(pad=2.5)
    buffer = io.BytesIO()
    drawing.savefig(buffer, format="png", dpi=DOTS, facecolor="white")
    plt.close(drawing)
    return buffer.getvalue()
