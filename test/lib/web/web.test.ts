import t from "tap";
import { chooseLanguage, rememberLanguage } from "../../../lib/web/choose-language.ts";
import { copyable } from "../../../lib/web/elements/copyable.ts";
import { languageLinks } from "../../../lib/web/elements/language-links.ts";
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
  t.match(css?.body, /--ground:[\s\S]*\.card \{[\s\S]*button,[\s\S]*\.elsewhere \{/);
  t.match(icon, { path: "/icon.svg", type: "image/svg+xml" });
  const scripts = readStaticFiles(folder, []).map(({ path }) => path);
  t.same(
    scripts,
    ["/elements.js", "/copy.js", "/times.js", "/providers.js", "/wallet-button.js", "/ask-for-page.js"],
    "and every page has the scripts that all share",
  );
  t.throws(() => readStaticFiles(folder, ["page.ts"]), /files of this kind are not served/);
});

t.test("a page's language: its link before the choice before before the browser's", async (t) => {
  const choose = (lang: string | undefined, cookie: string | undefined, preferred: string | undefined) => {
    const headers = {
      ...(cookie === undefined ? {} : { cookie }),
      ...(preferred === undefined ? {} : { "accept-language": preferred }),
    };
    return chooseLanguage({ query: lang === undefined ? {} : { lang }, headers });
  };
  const chosenBefore = rememberLanguage("id").split(";", 1)[0];
  t.same(choose(undefined, undefined, undefined), { language: "en", chosen: false });
  t.same(choose(undefined, undefined, "fr, id;q=0.8, en;q=0.5"), { language: "id", chosen: false });
  t.same(choose(undefined, chosenBefore, "en"), { language: "id", chosen: false });
  t.same(choose("en", chosenBefore, "id"), { language: "en", chosen: true });
  t.same(choose("xx", "tollgate_language=xx", "xx"), { language: "en", chosen: false });
  t.same(chooseLanguage({ query: { lang: ["id", "en"] }, headers: {} }).chosen, false);
  t.match(rememberLanguage("id"), /; Max-Age=\d+; .*HttpOnly; .*SameSite=Lax/);
});

t.test("a link leads to the same page in the other language", async (t) => {
  const text = languageLinks({ language: "en", root: "../", path: "block/7?tab=raw&lang=en" })
    .map(({ text }) => text)
    .join("");
  t.match(text, '<a href="../block/7?tab=raw&amp;lang=id" hreflang="id" lang="id">Bahasa Indonesia</a>');
  t.match(text, '<span aria-current="true">English</span>');
});

t.test("a value that is copied is escaped in its attribute", async (t) => {
  t.equal(
    copyable(`"><b>`, "x", "name").text,
    '<span class="copyable" data-copy="&quot;&gt;&lt;b&gt;" data-copy-name="name">x</span>',
  );
});
