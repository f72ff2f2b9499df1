/** Text that is HTML already, and is put into HTML as it is. */
export type Html = { readonly text: string };

type Value = string | Html | readonly Html[];

/** HTML from a template. Every text that is put into it is escaped, for content and for attributes in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = parts[0] ?? "";
  for (const [index, value] of values.entries()) text += textOf(value) + (parts[index + 1] ?? "");
  return { text };
}

function textOf(value: Value): string {
  if (typeof value === "string") return escapeHtml(value);
  return "text" in value ? value.text : value.map(({ text }) => text).join("\n              ");
}

/** Text for HTML, inside elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
