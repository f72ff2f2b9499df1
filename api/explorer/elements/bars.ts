import { type Html, html } from "../../../lib/web/html.ts";

export type Bar = { value: number; title: string; className?: string };

const height = 48;
/** A bar and the gap behind it. */
const step = 4;
/** A few blocks' bars stay as narrow as many, at the right, where the newest stand. */
const blocksMin = 40;

/** Bars side by side, as an image with a text alternative; each tells its value when pointed at. */
export function bars({
  label,
  data,
  max,
  barsMin = blocksMin,
}: {
  label: string;
  data: readonly Bar[];
  max?: number;
  /** There is room for so many. */
  barsMin?: number;
}): Html {
  const top = max ?? Math.max(1, ...data.map(({ value }) => value));
  const from = Math.max(0, barsMin - data.length);
  const rects = data.map(({ value, title, className }, index) => {
    const tall = value === 0 ? 0 : Math.max(1, Math.round((Math.min(value, top) / top) * height));
    const kind = className === undefined ? html`` : html` class="${className}"`;
    return html`<rect${kind} x="${String((from + index) * step)}" y="${String(height - tall)}" width="3" height="${String(tall)}"><title>${title}</title></rect>`;
  });
  const width = (from + data.length) * step - 1;
  return html`<svg class="bars" viewBox="0 0 ${String(width)} ${String(height)}" preserveAspectRatio="none" role="img" aria-label="${label}">${rects}</svg>`;
}
