import t from "tap";
import { startWorld } from "../../api/support/start-world.ts";
import { startChromium } from "../../helpers/chromium.ts";
import { coreKey, startGateway } from "../../helpers/gateway.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startProxy } from "../wallet-proxy/rig.ts";
import { ask, begin } from "./rig.ts";

const pagesMax = 60;
const html = { Accept: "text/html" };

t.setTimeout(180_000);
const browser = await startChromium(t);

t.test("the API's explorer through the gateway and the wallet proxy", async (t) => {
  const { api, anvil, services } = await startWorld(t, (config) => ({
    ...config,
    trustedProxies: ["127.0.0.1"],
  }));
  const gateway = await startGateway(t, {
    redisUrl: services.redisUrl,
    upstreams: [services.upstream],
    change: (config) => ({
      ...config,
      explorerUrl: api.url,
      trustedProxies: ["127.0.0.1"],
    }),
  });
  const proxy = await startProxy(t, { gatewayUrl: gateway.url.slice(0, -1) }, coreKey);
  const get = (path: string, headers: Record<string, string> = {}) =>
    ask(proxy.port, { path, headers: { Host: `127.0.0.1:${proxy.port}`, ...html, ...headers } });

  t.test("every link of every page leads where it does at the API, and stays in the folder", async (t) => {
    const apiPort = Number(new URL(api.url).port);
    const seen = new Set<string>(["/explorer/"]);
    const leaving: string[] = [];
    const other: string[] = [];
    for (const path of seen) {
      if (seen.size > pagesMax) break;
      const { status, headers, body } = await get(path);
      const direct = await ask(apiPort, { path: path.slice("/explorer".length), headers: html });
      if (status !== direct.status) other.push(`${path}: ${status}, not ${direct.status}`);
      const here = new URL(path, proxy.url);
      const links = headers["content-type"]?.startsWith("text/html") ? linksOf(body) : [];
      for (const link of [...links, ...(headers.location === undefined ? [] : [headers.location])]) {
        const { origin, pathname, search } = new URL(link, here);
        if (origin !== here.origin) continue;
        if (pathname.startsWith("/explorer/")) seen.add(pathname + search);
        else leaving.push(`${path}: ${link}`);
      }
    }
    t.same(leaving, []);
    t.same(other, []);
    t.ok(seen.size > 30, `${seen.size} addresses`);
  });

  t.test("a language that is chosen stays, for the explorer's folder alone", async (t) => {
    const { headers } = await get("/explorer/blocks?lang=id");
    t.match(headers["set-cookie"], [
      /^tollgate_language=id; Max-Age=\d+; Path=\/explorer\/; HttpOnly; SameSite=Lax$/,
    ]);
    const { body } = await get("/explorer/", { Cookie: "tollgate_language=id; session=1" });
    t.match(body, '<html lang="id">');
  });

  t.test("an unchanged page is not sent again", async (t) => {
    const { headers } = await get("/explorer/block/1");
    const again = await get("/explorer/block/1", { "If-None-Match": headers.etag ?? "" });
    t.match(again, { status: 304, body: "" });
  });

  t.test("GraphQL takes queries there", async (t) => {
    const headers = { Host: `127.0.0.1:${proxy.port}`, "Content-Type": "application/json" };
    const body = '{"query":"{ chain { chainId } }"}';
    const answer = await ask(proxy.port, { path: "/explorer/graphql", method: "POST", headers, body });
    t.same(JSON.parse(answer.body), { data: { chain: { chainId: 8845 } } });
  });

  t.test("clients behind the gateway have limits of their own at the API", async (t) => {
    const left = async (address: string) => {
      const headers = { "X-API-Key": coreKey, "X-Forwarded-For": address };
      const { headers: got } = await ask(gateway.port, { path: "/explorer/api/v1/chain", headers });
      return Number(/, "address";r=(\d+)/.exec(String(got["ratelimit"]))?.[1]);
    };
    const [first, second] = [await left("192.0.2.1"), await left("192.0.2.1")];
    t.equal(second, first - 1);
    t.equal(await left("192.0.2.2"), first);
  });

  t.test("new blocks are told as they come, and nobody listens for one who has left", async () => {
    const live = "/explorer/api/v1/live";
    const incoming = await begin(proxy.port, { path: live, headers: { Host: `127.0.0.1:${proxy.port}` } });
    let text = "";
    incoming.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    incoming.on("error", () => {});
    await waitFor("the stream is open", () => text.includes("retry:"));
    await anvil.rpc("evm_mine");
    await waitFor("a block is told", () => text.includes("event: block"));
    incoming.destroy();
    await waitFor("the API has nobody to tell", async () =>
      /"liveClients": ?0\b/.test(await (await fetch(`${api.opsUrl}/status`)).text()),
    );
  });

  t.test(
    "a browser gets there from the wallet proxy's page in one click",
    {
      skip: browser === undefined && "there is no chromium",
    },
    async (t) => {
      if (browser === undefined) return;
      const context = await browser.newContext({ locale: "en-GB" });
      t.teardown(() => context.close());
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("pageerror", ({ message }) => problems.push(message));
      page.on("console", (message) => {
        if (message.type() === "error") problems.push(message.text());
      });
      page.on("request", (request) => {
        if (!request.url().startsWith(proxy.url)) problems.push(`asked ${request.url()}`);
      });
      await page.goto(proxy.url);
      await page.locator('a[href$="explorer/"]:visible').first().click();
      await page.waitForURL(`${proxy.url}explorer/`);
      // The page may not listen yet when the first comes.
      const isTold = async () => {
        await anvil.rpc("evm_mine");
        return page.locator("a.fresh").isVisible();
      };
      await waitFor("a new block is told", isTold, { everyMs: 500 });
      await page.getByRole("searchbox").fill("1");
      await page.keyboard.press("Enter");
      await page.waitForURL(`${proxy.url}explorer/block/1`);
      await page.getByRole("link", { name: "Bahasa Indonesia" }).click();
      await page.waitForURL(/lang=id/);
      t.equal(await page.locator("html").getAttribute("lang"), "id");
      await page.goto(`${proxy.url}explorer`);
      t.equal(await page.locator("html").getAttribute("lang"), "id");
      t.same(problems, []);
    },
  );

  t.test("an API that is away is a page", async (t) => {
    await api.stop();
    const { status, body } = await get("/explorer/blocks");
    t.equal(status, 503);
    t.match(body, "The explorer is away");
  });
});

/** What a page has a browser ask for, or follow. */
function linksOf(page: string): string[] {
  return [...page.matchAll(/\s(?:href|src|action)="([^"#][^"]*)"/g)].map(([, link = ""]) =>
    link.replaceAll("&amp;", "&"),
  );
}
