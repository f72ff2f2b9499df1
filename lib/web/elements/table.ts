import { type Html, html } from "../html.ts";

export type Column<Row> = {
  title: string;
  cell: (row: Row) => string | Html;
  /** Numbers stand at the right. */
  number?: boolean;
  /** Left out where the screen is narrow. */
  secondary?: boolean;
};

/** Rows under headings, with a caption; the first column heads its row. On a narrow screen it scrolls in itself. */
export function table<Row>({
  caption,
  columns,
  rows,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}): Html {
  const classOf = ({ number = false, secondary = false }: Column<Row>) => {
    const names = [...(number ? ["number"] : []), ...(secondary ? ["secondary"] : [])];
    return names.length === 0 ? html`` : html` class="${names.join(" ")}"`;
  };
  const head = columns.map((column) => html`<th scope="col"${classOf(column)}>${column.title}</th>`);
  const body = rows.map((row) => {
    const cells = columns.map((column, index) =>
      index === 0
        ? html`<th scope="row"${classOf(column)}>${column.cell(row)}</th>`
        : html`<td${classOf(column)}>${column.cell(row)}</td>`,
    );
    return html`<tr>${cells}</tr>`;
  });
  return html`<div class="scroll" role="group" aria-label="${caption}" tabindex="0">
<table>
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}
</tbody>
</table>
</div>`;
}

/** Names and what they stand for. */
export function facts(
  entries: readonly (readonly [string, string | Html] | undefined)[],
  {
    inPairs = false,
  }: {
    /** Short values stand at the right, where the card is narrow. */
    inPairs?: boolean;
  } = {},
): Html {
  const rows = entries.flatMap((entry) =>
    entry === undefined ? [] : [html`<div><dt>${entry[0]}</dt><dd>${entry[1]}</dd></div>`],
  );
  return html`<dl class="facts${inPairs ? " pairs" : ""}">${rows}</dl>`;
}
