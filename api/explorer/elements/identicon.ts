import { type Html, html } from "../../../lib/web/html.ts";

const size = 5;
const half = 3;

/** A small picture of an address: five by five squares, left and right alike, so that a wrong address looks wrong. */
export function identicon(address: string): Html {
  const bytes = Buffer.from(address.slice(2), "hex");
  const hue = Math.round(((bytes[0] ?? 0) * 360) / 256);
  const squares: string[] = [];
  for (let column = 0; column < half; column += 1) {
    for (let row = 0; row < size; row += 1) {
      if (((bytes[1 + column * size + row] ?? 0) & 1) === 0) continue;
      squares.push(`M${column} ${row}h1v1h-1z`);
      if (column < half - 1) squares.push(`M${size - 1 - column} ${row}h1v1h-1z`);
    }
  }
  return html`<svg class="identicon" viewBox="0 0 5 5" width="16" height="16" aria-hidden="true"><rect width="5" height="5" fill="hsl(${String(hue)} 45% 90%)"/><path d="${squares.join("")}" fill="hsl(${String(hue)} 65% 40%)"/></svg>`;
}
