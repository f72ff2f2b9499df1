import { escapeHtml } from "../../../lib/web/html.ts";

export type Tone = "one" | "two" | "three";

export type PlotLine = {
  name: string;
  tone: Tone;
  points: readonly { x: number; y: number }[];
};

export type Plot = {
  title: string;
  lines: readonly PlotLine[];
  showX: (value: number) => string;
  showY: (value: number) => string;
  /** Where the x axis begins, if not at the lowest point. */
  fromX?: number;
  /** Places with a label on the x axis; evenly spaced ones where absent. */
  ticksX?: readonly number[];
  scaleX?: (value: number) => number;
};

const width = 640;
const height = 240;
const margin = { left: 104, right: 30, top: 14, bottom: 30 };
const plotWidth = width - margin.left - margin.right;
const plotHeight = height - margin.top - margin.bottom;
const tickCount = 5;

/** An inline SVG with axes, lines and a legend. Points have titles, so that a pointer shows their values without a script. */
export function plotSvg({
  title,
  lines,
  showX,
  showY,
  fromX,
  ticksX,
  scaleX = (value) => value,
}: Plot): string {
  const all = lines.flatMap(({ points }) => points);
  const xs = all.map(({ x }) => scaleX(x));
  const [lowestX, highestX] = [fromX === undefined ? Math.min(...xs) : scaleX(fromX), Math.max(...xs)];
  const highestY = niceAbove(Math.max(...all.map(({ y }) => y)));
  const left = (x: number) =>
    margin.left + ((scaleX(x) - lowestX) / Math.max(highestX - lowestX, Number.EPSILON)) * plotWidth;
  const top = (y: number) => margin.top + plotHeight - (y / highestY) * plotHeight;
  const even = Array.from({ length: tickCount }, (_, index) => index / (tickCount - 1));
  const shownX = ticksX ?? even.map((share) => lowestX + share * (highestX - lowestX));
  return [
    `<figure><figcaption>${escapeHtml(title)} ${lines.map(legendItem).join(" ")}</figcaption>`,
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(title)}">`,
    ...even.map((share) => gridLine(top(share * highestY), showY(share * highestY))),
    ...shownX.map((x) => label(left(x), height - 8, showX(x), "middle")),
    ...lines.flatMap((line) => drawLine({ line, left, top, describe: (x, y) => `${showX(x)}: ${showY(y)}` })),
    "</svg></figure>",
  ].join("\n");
}

const markedPointsMax = 120;

function drawLine({
  line: { name, tone, points },
  left,
  top,
  describe,
}: {
  line: PlotLine;
  left: (x: number) => number;
  top: (y: number) => number;
  describe: (x: number, y: number) => string;
}): string[] {
  const path = points.map(({ x, y }) => `${digits(left(x))},${digits(top(y))}`).join(" ");
  // One dot every few points of a long run is enough to ask for a value.
  const every = Math.ceil(points.length / markedPointsMax);
  const marks = points.filter((_, index) => index % every === 0);
  return [
    `<polyline class="line ${tone}" points="${path}"/>`,
    ...marks.map(
      ({ x, y }) =>
        `<circle class="mark ${tone}" cx="${digits(left(x))}" cy="${digits(top(y))}" r="3"><title>${escapeHtml(
          `${name}, ${describe(x, y)}`,
        )}</title></circle>`,
    ),
  ];
}

function gridLine(y: number, text: string): string {
  const line = `<line class="grid" x1="${margin.left}" x2="${width - margin.right}" y1="${digits(y)}" y2="${digits(y)}"/>`;
  return line + label(margin.left - 6, y + 4, text, "end");
}

function label(x: number, y: number, text: string, anchor: "middle" | "end"): string {
  return `<text x="${digits(x)}" y="${digits(y)}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
}

export function legendItem({ name, tone }: Pick<PlotLine, "name" | "tone">): string {
  return `<span class="legend ${tone}">${escapeHtml(name)}</span>`;
}

/** The next number above that is round enough for an axis. */
export function niceAbove(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].find((candidate) => candidate * power >= value) ?? 10;
  return step * power;
}

function digits(value: number): string {
  return String(Number(value.toFixed(1)));
}
