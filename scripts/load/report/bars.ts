import { escapeHtml, type Html } from "../../../lib/web/html.ts";
import { legendItem, niceAbove, type Tone } from "./plot.ts";

export type BarRow = { label: string; values: readonly number[] };

const width = 640;
const margin = { left: 210, right: 80, top: 6 };
const barHeight = 13;
const rowGap = 12;
const tones: readonly Tone[] = ["one", "two", "three"];
const labelCharsMax = 30;

/** Groups of horizontal bars on one scale, each with its value, as inline SVG. */
export function barsSvg({
  title,
  names,
  rows,
  show,
}: {
  title: string;
  /** What the bars of each row are, in their order; at most three. */
  names: readonly string[];
  rows: readonly BarRow[];
  show: (value: number) => string;
}): Html {
  const rowHeight = names.length * barHeight + rowGap;
  const highest = niceAbove(Math.max(0, ...rows.flatMap(({ values }) => values)));
  const parts = rows.flatMap(({ label, values }, index) => {
    const top = margin.top + index * rowHeight;
    const middle = top + (names.length * barHeight) / 2 + 4;
    return [
      `<text x="${margin.left - 8}" y="${middle}" text-anchor="end">${escapeHtml(shortened(label))}</text>`,
      ...values.map((value, bar) => {
        const length = Math.max(1, (value / highest) * (width - margin.left - margin.right)).toFixed(1);
        const y = top + bar * barHeight;
        const said = escapeHtml(`${label}, ${names[bar] ?? ""}: ${show(value)}`);
        return [
          `<rect class="bar ${tones[bar] ?? "one"}" x="${margin.left}" y="${y}" width="${length}" height="${barHeight - 2}"><title>${said}</title></rect>`,
          `<text x="${(margin.left + Number(length) + 5).toFixed(1)}" y="${y + barHeight - 3}">${escapeHtml(show(value))}</text>`,
        ].join("");
      }),
    ];
  });
  const legend = names.map((name, bar) => legendItem({ name, tone: tones[bar] ?? "one" }));
  const text = [
    `<figure><figcaption>${escapeHtml(title)} ${legend.join(" ")}</figcaption>`,
    `<svg class="bars" viewBox="0 0 ${width} ${margin.top + rows.length * rowHeight}" role="img" aria-label="${escapeHtml(title)}">`,
    ...parts,
    "</svg></figure>",
  ].join("\n");
  return { text };
}

function shortened(label: string): string {
  return label.length > labelCharsMax ? `${label.slice(0, labelCharsMax - 1)}…` : label;
}
