import { createServer } from "node:http";
import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { createKeyStore } from "../../lib/keys/key-store.ts";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { startChromium } from "../helpers/chromium.ts";
import { coreKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";

const site = "https://dapp.example";
const call = { jsonrpc: "2.0", id: 7, method: "eth_chainId" };
const exposed = /^RateLimit-Policy, RateLimit, Retry-After, /;

t.test("cross-origin requests", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });
  const admin = new Redis(redis.url);
  t.teardown(() => admin.disconnect());
  const store = createKeyStore({ redis: admin });
  const createKey = async (team: string, origins?: string[]) => {
    const made = await store.create({
      team,
      label: "a page's",
      permissions: ["rpc", "faucet"],
      qa: false,
      profile: "development",
      ...(origins === undefined ? {} : { origins }),
    });
    if (made.outcome !== "created") throw new Error(made.outcome);
    return made.secret;
  };
  await store.setTeam({ name: "open" });
  await store.setTeam({ name: "listed", origins: [site] });

  t.test("a preflight is answered on every path, without a key, and costs nothing", async (t) => {
    for (const path of ["", "faucet/claim", "nowhere"]) {
      const answer = await fetch(gateway.url + path, {
        method: "OPTIONS",
        headers: {
          Origin: site,
          "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "content-type,x-api-key",
        },
      });
      t.equal(answer.status, 204);
      t.equal(answer.headers.get("Access-Control-Allow-Origin"), "*");
      t.equal(answer.headers.get("Access-Control-Allow-Methods"), "POST");
      t.match(answer.headers.get("Access-Control-Allow-Headers"), "X-API-Key");
      t.equal(answer.headers.get("Access-Control-Max-Age"), "7200");
      t.equal(answer.headers.get("RateLimit"), null);
      t.equal(await answer.text(), "");
    }
    t.equal(validator.bodies.length, 0);
  });

  t.test("OPTIONS that is no preflight is a method like another", async (t) => {
    for (const headers of [{}, { Origin: site }, { "Access-Control-Request-Method": "POST" }]) {
      const answer = await fetch(gateway.url, { method: "OPTIONS", headers });
      t.equal(answer.status, 405);
    }
  });

  t.test("every answer to a page can be read by it, refusals too", async (t) => {
    const answers = {
      200: await gateway.post(call, { headers: { Origin: site } }),
      400: await gateway.post("{", { headers: { Origin: site } }),
      401: await gateway.post(call, { key: null, headers: { Origin: site } }),
      415: await gateway.post(call, { headers: { Origin: site, "Content-Type": "text/plain" } }),
    };
    for (const [status, answer] of Object.entries(answers)) {
      t.equal(answer.status, Number(status));
      t.equal(answer.headers.get("Access-Control-Allow-Origin"), "*");
      t.match(answer.headers.get("Access-Control-Expose-Headers"), exposed);
      t.equal(answer.headers.get("Access-Control-Allow-Credentials"), null);
    }
    const elsewhere = await fetch(`${gateway.url}nowhere`, { headers: { Origin: site } });
    t.equal(elsewhere.status, 404);
    t.equal(elsewhere.headers.get("Access-Control-Allow-Origin"), "*");
  });

  t.test("who sends no Origin gets no such headers", async (t) => {
    const { headers } = await gateway.post(call);
    t.equal(headers.get("Access-Control-Allow-Origin"), null);
    t.equal(headers.get("Access-Control-Expose-Headers"), null);
  });

  t.test("a team's origins", async (t) => {
    const open = await createKey("open");
    const listed = await createKey("listed");
    const own = await createKey("listed", ["https://other.example"]);
    const from = async (key: string, origin?: string) =>
      (await gateway.post(call, { key, headers: origin === undefined ? {} : { Origin: origin } })).status;

    t.test("without a list any may ask", async (t) => {
      t.equal(await from(open, site), 200);
      t.equal(await from(open, "null"), 200);
    });

    t.test("with one, those and whoever is no page", async (t) => {
      t.equal(await from(listed, site), 200);
      t.equal(await from(listed), 200);
      for (const other of [
        "https://evil.example",
        "http://dapp.example",
        `${site}.evil.example`,
        "null",
        "",
      ]) {
        t.equal(await from(listed, other), 403, other);
      }
    });

    t.test("a key's own list counts instead", async (t) => {
      t.equal(await from(own, "https://other.example"), 200);
      t.equal(await from(own, site), 403);
    });

    t.test("a refusal carries the id and a code, costs a call and reaches no validator", async (t) => {
      const before = await gateway.post(call, { key: listed });
      const asked = validator.bodies.length;
      const refused = await gateway.post(call, { key: listed, headers: { Origin: "https://evil.example" } });
      t.match(refused.json, { id: 7, error: { code: -32091, data: { code: "forbidden" } } });
      t.equal(remaining(refused.headers), remaining(before.headers) - 1);
      t.equal(validator.bodies.length, asked);
    });

    t.test("claims through the gateway too", async (t) => {
      const claim = async (origin: string) => {
        const { status } = await fetch(`${gateway.url}faucet/claim`, {
          method: "POST",
          headers: { "Content-Type": "application/json", "X-API-Key": listed, Origin: origin },
          body: "{}",
        });
        return status;
      };
      t.equal(await claim("https://evil.example"), 403);
      t.equal(await claim(site), 503, "no faucet is configured here");
    });
  });

  t.test("a page in a browser asks, and reads answers, limits and refusals", async (t) => {
    const browser = await startChromium(t);
    if (browser === undefined) return;
    const page = await browser.newPage();
    await page.goto(await startSite(t));
    const ask = (key: string) =>
      page.evaluate(
        async ({ url, key, body }) => {
          const answer = await fetch(url, {
            method: "POST",
            headers: { "Content-Type": "application/json", "X-API-Key": key },
            body,
          });
          return { status: answer.status, limit: answer.headers.get("RateLimit"), json: await answer.json() };
        },
        { url: gateway.url, key, body: JSON.stringify(call) },
      );
    t.match(await ask(coreKey), { status: 200, limit: /^"default";r=\d+;t=\d+$/, json: { id: 7 } });
    t.match(await ask("mistyped"), { status: 401, json: { error: { data: { code: "api_key_invalid" } } } });
    t.match(await ask(await createKey("listed")), { status: 403, json: { error: { message: /origin/ } } });
  });
});

function remaining(headers: Headers): number {
  return Number(/;r=(\d+)/.exec(headers.get("RateLimit") ?? "")?.[1]);
}

/** A site of another origin than the gateway's. */
async function startSite(t: Test): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader("Content-Type", "text/html").end("<!doctype html><title>A dapp</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
}
