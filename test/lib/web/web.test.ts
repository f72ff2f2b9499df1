import t from "tap";
import { escapeHtml, html } from "../../../lib/web/html.ts";
import { pageHeaders } from "../../../lib/web/page-headers.ts";
import { pageShell } from "../../../lib/web/page-shell.ts";
import { readStaticFiles } from "../../../lib/web/static-files.ts";

t.test("every text that is put into HTML is escaped, HTML is not", async (t) => {
  const hostile = `<b title="x">'&`;
  t.equal(escapeHtml(hostile), "&lt;b title=&quot;x&quot;&gt;&#39;&amp;");
  t.equal(html`<i>${hostile}</i>${html`<br>`}`.text, `<i>${escapeHtml(hostile)}</i><br>`);
  t.match(html`${[html`<li>`, html`<li>`]}`.text, /^<li>\s+<li>$/);
});

t.test("the shell escapes its title and names its product", async (t) => {
  const page = pageShell({ title: "<x>", product: "faucet", main: html`<p>here</p>` });
  t.match(page, /<title>&lt;x&gt; · Tollgate faucet<\/title>/);
  t.match(page, /<main id="main">\n<p>here<\/p>\n\s*<\/main>/);
});

t.test("a page in a folder leads to its files from there, in its language", async (t) => {
  const page = pageShell({ title: "x", product: "y", language: "id", root: "../", main: html`` });
  t.match(page, '<html lang="id">');
  for (const file of ["icon.svg", "page.css", "page.js"]) t.match(page, `"../${file}"`);
  t.notMatch(page, '="/');
});

t.test("a page lets nothing in from outside and nothing inline", async (t) => {
  const policy = (options = {}) => pageHeaders(options)["Content-Security-Policy"];
  t.notMatch(policy(), /unsafe|https?:|\*|data:/);
  t.match(policy(), /form-action 'none'/);
  t.match(policy({ formsTo: "self", dataImages: true }), /img-src 'self' data:; .*form-action 'self'/);
});

t.test("a style sheet has the tokens and the shared rules before its own", async (t) => {
  const folder = new URL("../../../faucet/page/", import.meta.url);
  const [css, icon] = readStaticFiles(folder, ["page.css", "icon.svg"]);
  t.match(css, { path: "/page.css", type: "text/css; charset=utf-8" });
  t.match(css?.body, /--ground:[\s\S]*\.card \{[\s\S]*--field:/);
  t.match(icon, { path: "/icon.svg", type: "image/svg+xml" });
  t.throws(() => readStaticFiles(folder, ["page.ts"]), /files of this kind are not served/);
});
