// A matrix as a picture whose numbers can be asked for, by mouse and keys; what it is drawn in is the figure's.

/** The two colours of a matrix as they are at this moment in a figure. */
export function signColours(root) {
  const [positive, negative] = ["blue", "orange"].map((name) => {
    const hex = getComputedStyle(root).getPropertyValue(`--${name}`).trim();
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  });
  return { positive, negative };
}

/** An image's address: a pixel for each number from −1 to 1, blue above zero and orange below. */
export function painted(rows, columns, value, { positive, negative }) {
  const canvas = Object.assign(document.createElement("canvas"), { width: columns, height: rows }), brush = canvas.getContext("2d");
  const image = brush.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; i++) {
    const v = value(Math.floor(i / columns), i % columns);
    image.data.set([...(v > 0 ? positive : negative), 255 * Math.min(1, Math.abs(v))], 4 * i);
  }
  brush.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** The place, row after row, of the number under a pointer, in a matrix that is drawn into a box of the picture. */
export function placeUnder(event, picture, { x, y, width, height }, { rows, columns }) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
  const inside = (share, n) => Math.max(0, Math.min(n - 1, Math.floor(share * n)));
  return inside((at.y - y) / height, rows) * columns + inside((at.x - x) / width, columns);
}

/** The place that an arrow key leads to, round the ends; null for another key. */
export function arrowTo(key, place, { rows, columns }) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
  return step === undefined ? null : (place + step + rows * columns) % (rows * columns);
}
