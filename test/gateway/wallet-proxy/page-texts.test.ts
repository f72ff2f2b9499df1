import t from "tap";
import { en } from "../../../gateway/wallet-proxy/page/texts/en.ts";
import { languages } from "../../../gateway/wallet-proxy/page/texts/languages.ts";
import { errorTable } from "../../../lib/errors.ts";
import { textShape } from "../../helpers/text-shape.ts";
import { ask, startProxy, startTarget } from "./rig.ts";

t.test("every language has the same texts, which leave the same places open", async (t) => {
  for (const [language, texts] of Object.entries(languages))
    t.same(textShape(texts), textShape(en), language);
});

t.test("a text for a problem is for a code that the gateway has", async (t) => {
  const codes: ReadonlySet<string> = new Set(Object.values(errorTable).map(({ code }) => code));
  const told = Object.keys(en.words).filter((name) => name.startsWith("problem_"));
  t.ok(told.length > 0);
  for (const name of told) t.ok(codes.has(name.slice("problem_".length)), name);
});

t.test("the page's language is the link's, else the cookie's, else the browser's", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  const get = (path: string, headers: Record<string, string>) => ask(port, { method: "GET", path, headers });
  const preferred = await get("/", { "Accept-Language": "id, en;q=0.5" });
  t.match(preferred.body, '<html lang="id">');
  t.match(preferred.headers, { "content-language": "id", vary: /Accept-Language, Cookie/ });
  t.equal(preferred.headers["set-cookie"], undefined);
  const chosen = await get("/?lang=id", { "Accept-Language": "en" });
  t.match(chosen.body, '<html lang="id">');
  const [cookie = ""] = chosen.headers["set-cookie"] ?? [];
  t.match(cookie, /^tollgate_language=id; .*HttpOnly/);
  const remembered = await get("/", { Cookie: cookie.split(";", 1)[0] ?? "", "Accept-Language": "en" });
  t.match(remembered.body, '<html lang="id">');
  t.match((await get("/?lang=%3Cscript%3E", {})).body, '<html lang="en">');
  t.same(target.requests, [], "the gateway was not asked");
});
