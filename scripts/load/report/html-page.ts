import { hash } from "node:crypto";
import { escapeHtml, type Html } from "../../../lib/web/html.ts";
import { readReportStyle } from "./html-style.ts";

/**
 * A page in one file that needs nothing else: no script, no request, plots as inline SVG. Its policy allows its own style by
 * hash and an empty icon, so that even a text from the other side that got past the escaping could do nothing.
 */
export function reportPage({ title, main }: { title: string; main: Html }): string {
  const style = readReportStyle();
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", style, "base64")}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Tollgate load</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header class="top"><p class="brand">Tollgate <span>load</span></p></header>
<main id="main">
${main.text}
</main>
</body>
</html>
`;
}
