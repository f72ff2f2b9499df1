import { type Html, html } from "../html.ts";

/** A value with a button that copies it, which a script adds (assets/copy.js). `name` says to a screen reader what is copied. */
export function copyable(value: string, content: string | Html = value, name = ""): Html {
  const called = name === "" ? html`` : html` data-copy-name="${name}"`;
  return html`<span class="copyable" data-copy="${value}"${called}>${content}</span>`;
}
