import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { type ApiConfig, configSchema } from "../../api/config.ts";
import { reloadTable } from "../../api/reload-table.ts";
import { reloadInTurn } from "../helpers/ask-reload.ts";
import { reloadTableProblems, settingNames } from "../helpers/setting-names.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { startApi } from "./support/start-api.ts";
import { bob, gold, startServices } from "./support/start-world.ts";

const services = await startServices(t);

t.test("each setting of the file is either changed by a reload or needs a restart", async (t) => {
  t.same(reloadTableProblems(reloadTable, settingNames(configSchema)), []);
});

t.test(
  "the limit, the origins and the log's level change in a running API; all else is refused",
  async (t) => {
    let started: ApiConfig | undefined;
    let next: ApiConfig | undefined;
    const origins = ["https://explorer.example", "https://www.example"];
    const api = await startApi(t, {
      ...services,
      change: (config) => {
        started = { ...config, profile: "production", origins, limits: { ...config.limits, points: 100 } };
        return started;
      },
      readAgain: () => (next === undefined ? { problems: ["nothing was written"] } : { config: next }),
    });
    // Production sells nothing here: what the test's API runs with says so.
    const running = (): ApiConfig => {
      if (started === undefined) throw new Error("it has not started");
      return { ...started, svcDev: { ...started.svcDev, orderSigner: { kind: "none" } } };
    };
    const policyFor = async (origin: string) => {
      const { headers } = await api.get("/api/v1/blocks", { Origin: origin });
      return { allowed: headers.get("access-control-allow-origin"), policy: headers.get("ratelimit-policy") };
    };
    t.match(await policyFor("https://www.example"), { allowed: "https://www.example", policy: /q=100/ });

    next = { ...running(), origins: ["https://explorer.example", "https://new.example"] };
    next.limits = { ...next.limits, points: 50 };
    t.match(await reloadInTurn(api, "?dry-run"), { status: 200, body: { outcome: "checked" } });
    t.match(await policyFor("https://www.example"), { allowed: "https://www.example", policy: /q=100/ });
    t.match(await reloadInTurn(api), {
      status: 200,
      body: {
        outcome: "changed",
        changes: [
          { path: "origins", from: origins, to: next.origins },
          { path: "limits.points", from: 100, to: 50 },
        ],
      },
    });
    t.match(await policyFor("https://www.example"), { allowed: null, policy: /q=50/ });
    t.match(await policyFor("https://new.example"), { allowed: "https://new.example", policy: /q=50/ });

    const fixed = next;
    next = {
      ...fixed,
      postgres: { ...fixed.postgres, url: "postgres://user:secret-password@127.0.0.1/x" },
      origins,
    };
    t.same(await reloadInTurn(api), {
      status: 409,
      body: { outcome: "refused", problems: ["postgres.url cannot change without a restart"] },
    });
    t.match(
      await policyFor("https://new.example"),
      { allowed: "https://new.example" },
      "nothing else is taken",
    );
    const { config }: { config: { lastReload: unknown } } = JSON.parse(
      await (await fetch(`${api.opsUrl}/status`)).text(),
    );
    t.match(config.lastReload, { outcome: "refused", problems: [/^postgres\.url/] });
    t.notMatch(api.logLines.join(""), "secret-password");

    next = { ...fixed, log: { ...fixed.log, level: "error" } };
    t.match(await reloadInTurn(api), { body: { outcome: "changed" } });
    const lines = api.logLines.length;
    next = { ...next, port: 1 };
    t.match(await reloadInTurn(api), { body: { outcome: "refused" } });
    t.equal(api.logLines.length, lines, "a refusal is a warning, which is not logged any more");
  },
);

t.test("gateway, key, names, contracts, links and bounds of streams change in a running API", async (t) => {
  const { anvil } = services;
  const folder = await mkdtemp(join(tmpdir(), "tollgate-api-contracts-"));
  t.teardown(() => rm(folder, { recursive: true }));
  let config: ApiConfig | undefined;
  let next: ApiConfig | undefined;
  const api = await startApi(t, {
    ...services,
    change: (shipped) => {
      config = { ...shipped, contractsFolder: folder, limits: { ...shipped.limits, points: 1_000_000 } };
      return config;
    },
    readAgain: () => (next === undefined ? { problems: ["nothing was written"] } : { config: next }),
  });
  /** Reloads with these values in the place of those before. */
  async function take(change: Partial<ApiConfig>) {
    if (config === undefined) throw new Error("it has not started");
    config = { ...config, ...change };
    next = config;
    const { body } = await reloadInTurn(api);
    if (body.outcome !== "changed") throw new Error(JSON.stringify(body));
    return body;
  }

  t.test("an ABI that is put into the folder, and names", async (t) => {
    t.equal((await api.get("/api/v1/network/contracts/Gold/abi.json")).status, 404);
    t.notMatch((await api.get(`/address/${bob}`)).text, "Bob the builder");
    const abi = [{ type: "function", name: "glitter", inputs: [], outputs: [] }];
    await writeFile(join(folder, "gold.json"), JSON.stringify({ name: "Gold", address: gold, abi }));
    t.match(await take({ names: { [bob]: "Bob the builder" } }), {
      changes: [{ path: /names/ }, { path: "contractsFolder.Gold" }],
    });
    t.match((await api.get("/api/v1/network/contracts/Gold/abi.json")).json, abi);
    t.match((await api.get(`/address/${bob}`)).text, "Bob the builder", "pages that were made are made anew");
    await writeFile(join(folder, "bad.json"), "{}");
    t.match(await reloadInTurn(api), { status: 409, body: { problems: [/bad\.json/] } });
    await rm(join(folder, "bad.json"));
  });

  t.test("links of the pages", async (t) => {
    await take({ faucetUrl: "https://faucet.example", walletProxyUrl: "http://127.0.0.1:9999" });
    const { text } = await api.get("/network");
    t.match(text, "https://faucet.example");
    t.match(text, "http://127.0.0.1:9999");
  });

  t.test("how long a chain may be silent, and how fast its blocks are", async (t) => {
    await take({ stalledAfterMs: 86_400_000, blockTimeSeconds: 7 });
    t.match((await api.get("/api/v1/chain")).json, { stalled: false, blockTimeSeconds: 7 });
    await anvil.rpc("evm_mine", []);
    await take({ stalledAfterMs: 1 });
    await waitFor("it is told of as stalled", async () =>
      (await api.get("/api/v1/chain")).text.includes('"stalled":true'),
    );
  });

  t.test("streams: those that come are judged by the new bound, none that is open is closed", async (t) => {
    const ends = new AbortController();
    t.teardown(() => ends.abort());
    const open = () => fetch(`${api.url}/api/v1/live`, { signal: ends.signal });
    const first = await open();
    t.equal(first.status, 200);
    if (config === undefined) throw new Error("it has not started");
    await take({ live: { ...config.live, perAddressMax: 1 } });
    t.equal((await open()).status, 429);
    const { liveClients }: { liveClients: number } = JSON.parse(
      await (await fetch(`${api.opsUrl}/status`)).text(),
    );
    t.equal(liveClients, 1);
  });

  t.test("another gateway with another key: calls from then on, and what tells of new blocks", async (t) => {
    const asked = new Set<string | undefined>();
    const upgrades: (string | undefined)[] = [];
    const proxy = createServer(async (request, response) => {
      asked.add(request.headers["x-api-key"]?.toString());
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const answer = await fetch(anvil.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: Buffer.concat(chunks),
      });
      response.end(await answer.text());
    });
    proxy.on("upgrade", (request, socket) => {
      upgrades.push(request.headers["x-api-key"]?.toString());
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    t.teardown(() => proxy.close());
    const address = proxy.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const told = await take({ upstream: `http://127.0.0.1:${port}`, upstreamApiKey: "tg_key_of_the_api" });
    t.match(told.changes, [{ path: "upstream" }, { path: "upstreamApiKey", to: "(secret)" }]);
    t.notMatch(JSON.stringify(told) + api.logLines.join(""), "tg_key_of_the_api");
    await waitFor("the new gateway is asked", async () => asked.has("tg_key_of_the_api"));
    await waitFor("and its WebSocket", async () => upgrades.includes("tg_key_of_the_api"));
    t.equal((await api.get("/api/v1/blocks/latest")).status, 200);
  });
});
