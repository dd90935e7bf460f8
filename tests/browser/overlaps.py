"""Which words of a figure lie on others or are cut off: scripts for the page, given a figure's element."""

# Each text has a box that turns with it. Boxes are taller than letters: they may meet by 3 pixels.
OVERLAPS = """(figure) => {
  const glides = document.getAnimations().filter((each) => each.effect.target instanceof SVGElement);
  glides.forEach((glide) => glide.finish());
  const boxOf = (text) => {
    const { x, y, width, height } = text.getBBox(), matrix = text.getScreenCTM();
    const [slim, flat] = [0.5, 1.5].map((pixels) => pixels / Math.hypot(matrix.a, matrix.b));
    const corners = [[x + slim, y + flat], [x + width - slim, y + flat],
      [x + width - slim, y + height - flat], [x + slim, y + height - flat]];
    return corners.map(([across, down]) => new DOMPoint(across, down).matrixTransform(matrix));
  };
  const spread = (box, [a, b]) => {
    const along = box.map((corner) => a * corner.x + b * corner.y);
    return [Math.min(...along), Math.max(...along)];
  };
  const sides = (box) => [box[1], box[3]].map(({ x, y }) => [x - box[0].x, y - box[0].y]);
  const meet = (one, other) => [...sides(one), ...sides(other)].every((side) => {
    const [[from, to], [start, end]] = [one, other].map((box) => spread(box, side));
    return from < end && start < to;
  });
  return [...figure.querySelectorAll('.picture > svg')].flatMap((picture) => {
    const room = picture.getBoundingClientRect();
    const words = [...picture.querySelectorAll('text')]
      .filter((text) => text.textContent.trim() && text.getBBox().width)
      .map((text) => [text.textContent, boxOf(text)]);
    const isCut = ([, box]) => box.some(({ x, y }) =>
      x < room.left - 1 || x > room.right + 1 || y < room.top - 1 || y > room.bottom + 1);
    const overlaps = words.flatMap(([word, box], i) => words.slice(i + 1)
      .filter(([, other]) => meet(box, other)).map(([other]) => `${word} × ${other}`));
    return [...words.filter(isCut).map(([word]) => `cut off: ${word}`), ...overlaps];
  });
}"""

# The same with each control in turn at its ends and between them, and then back where it was.
IN_EVERY_STATE = f"""(figure) => {{
  const overlaps = {OVERLAPS}, found = {{}};
  const look = (state) => overlaps(figure).forEach((words) => {{ found[words] ??= state; }});
  const put = (control, value, event) => {{
    control.value = value;
    control.dispatchEvent(new Event(event));
  }};
  look('at first');
  for (const control of figure.querySelectorAll('.lmf-row input, .lmf-row select')) {{
    const name = control.parentElement.innerText.trim().split('\\n')[0], was = control.value;
    if (control.type === 'checkbox') {{
      control.click();
      look(name);
      control.click();
    }} else if (control.type === 'range') {{
      const [least, most] = [control.min, control.max].map(Number);
      for (const share of [0, 0.25, 0.5, 0.75, 1]) {{
        put(control, least + share * (most - least), 'input');
        look(`${{name}} ${{control.value}}`);
      }}
      put(control, was, 'input');
    }} else if (control.tagName === 'SELECT') {{
      for (const option of control.options) {{
        put(control, option.value, 'change');
        look(option.text);
      }}
      put(control, was, 'change');
    }}
  }}
  return found;
}}"""
