import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { configSchema, type FaucetConfig } from "../../faucet/config.ts";
import { reloadTable } from "../../faucet/reload-table.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { reloadInTurn } from "../helpers/ask-reload.ts";
import { startRedis } from "../helpers/redis.ts";
import { reloadTableProblems, settingNames } from "../helpers/setting-names.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { randomAddress } from "./support/outside-wallet.ts";
import { allowlistText, startFaucet } from "./support/start-faucet.ts";

const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
const tokens = (count: number) => BigInt(count) * 10n ** 18n;

t.test("each setting of the file is either changed by a reload or needs a restart", async (t) => {
  t.same(reloadTableProblems(reloadTable, settingNames(configSchema)), []);
  const settings = [...settingNames(configSchema), "limits.perPlanet"];
  t.same(
    reloadTableProblems({ ...reloadTable, live: reloadTable.live.slice(1) }, settings),
    ["amount is in neither"],
    "a forgotten one is found",
  );
});

t.test("a running faucet takes another configuration; its wallet and what else is fixed stays", async (t) => {
  const address = randomAddress();
  const others = Array.from({ length: 20 }, randomAddress);
  const another = () => others.pop() ?? "";
  let next: FaucetConfig | undefined;
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: [address, ...others].map((each) => ({ address: each })),
    readAgain: () => (next === undefined ? { problems: ["nothing was written"] } : { config: next }),
  });
  let { config } = faucet;
  /** Reloads with these values in the place of those before. */
  async function take(change: Partial<FaucetConfig>): Promise<void> {
    config = { ...config, ...change };
    next = config;
    const { body } = await reloadInTurn(faucet);
    if (body.outcome !== "changed") throw new Error(JSON.stringify(body));
  }
  const claim = (to: string, options: Parameters<typeof faucet.claim>[1] = {}) =>
    faucet.claim({ address: to, website: "" }, options);
  const status = async () => JSON.parse((await faucet.get("/status")).text);

  t.test("limits", async (t) => {
    t.equal((await claim(address)).status, 202);
    t.equal((await claim(address)).status, 429, "one a day");
    next = { ...config, limits: { ...config.limits, perAddress: 2 } };
    t.match(await reloadInTurn(faucet, "?dry-run"), { status: 200, body: { outcome: "checked" } });
    t.equal((await claim(address)).status, 429);
    t.match(await reloadInTurn(faucet), {
      status: 200,
      body: { outcome: "changed", changes: [{ path: "limits.perAddress", from: 1, to: 2 }] },
    });
    const { status: code, json } = await claim(address);
    t.equal(code, 202);
    t.match(await faucet.ended(json.claim.id), { status: "confirmed" }, "the payer knows the new limit, too");
    t.equal((await claim(address)).status, 429);

    t.equal((await claim(randomAddress())).status, 403);
    await take({ limits: { ...config.limits, windowMs: 7_200_000, refusals: 1 } });
    t.match(await status(), { limits: { windowSeconds: 7200 } });
    t.match(await claim(randomAddress()), { status: 429, json: { detail: /were refused/ } });
    // Those refusals count for a minute, in which this client could not claim any more.
    await take({ limits: { ...config.limits, refusals: 100_000 } });
    t.equal((await claim(address)).status, 429, "a claim counts for the window of its time");
  });

  t.test("limits of a client, of a team and of all", async (t) => {
    await take({ limits: { ...config.limits, perClient: 2, perTeam: 1 } });
    t.match(await claim(another()), { status: 429, json: { detail: /claims/ } });
    const team = { url: faucet.privateUrl, headers: { "X-Tollgate-Team": "reloaders" } };
    t.equal((await claim(another(), team)).status, 202);
    t.match(await claim(another(), team), { status: 429, json: { detail: /claims/ } });
    await take({ limits: { ...config.limits, perClient: 100_000, overall: 1 } });
    t.match(await claim(another()), { status: 429, json: { detail: /as much as it may/ } });
    await take({ limits: { ...config.limits, overall: 1_000_000 } });
  });

  t.test("clients behind a proxy that is trusted from now on", async (t) => {
    await take({ limits: { ...config.limits, perClient: 3 } });
    const behind = { headers: { "X-Forwarded-For": "198.51.100.7" } };
    const to = another();
    await claim(another());
    t.equal((await claim(to, behind)).status, 429, "anybody can write that field");
    await take({ trustedProxies: ["127.0.0.1"] });
    t.equal((await claim(to, behind)).status, 202);
    await take({ limits: { ...config.limits, perClient: 100_000 } });
  });

  t.test("the amount: what was promised is paid, what is claimed from then on is the new one", async (t) => {
    const before = await claim(another());
    await take({ amount: tokens(7), lowBalance: tokens(1_000_000_000) });
    t.match(await status(), { amount: String(tokens(7)), isLow: true });
    const after = await claim(another());
    t.equal(after.json.claim.amount, String(tokens(7)));
    t.match(await faucet.ended(before.json.claim.id), { status: "confirmed", amount: String(tokens(10)) });
    t.match(await faucet.ended(after.json.claim.id), { status: "confirmed", amount: String(tokens(7)) });
  });

  t.test("the pages' texts and links, and the fees of payments", async (t) => {
    await take({
      contact: "night-shift@example.org",
      explorerUrl: "https://explorer.example",
      walletProxyGuide: "https://guide.example/",
      walletRpcUrl: "http://127.0.0.1:9999/",
      fees: { ...config.fees, gasLimit: 50_000, maxFeePerGasWei: 3_000_000_000n },
    });
    const page = await fetch(faucet.url, { headers: { Accept: "text/html" } });
    const text = await page.text();
    for (const shown of ["night-shift@example.org", "https://guide.example/", "http://127.0.0.1:9999/"]) {
      t.match(text, shown);
    }
    const { json } = await claim(another());
    const { txHash } = await faucet.ended(json.claim.id);
    const answer = await fetch(anvil.url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getTransactionByHash", params: [txHash] }),
    });
    const { result }: { result: object } = JSON.parse(await answer.text());
    t.match(result, { gas: "0xc350", maxFeePerGas: "0xb2d05e00" });
  });

  t.test("another list of who may claim, at once; one that cannot be used refuses the reload", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-faucet-list-"));
    t.teardown(() => rm(folder, { recursive: true }));
    const newcomer = randomAddress();
    const [good, bad] = [join(folder, "good.yaml"), join(folder, "bad.yaml")];
    await writeFile(
      good,
      allowlistText([{ address: newcomer }, ...others.map((each) => ({ address: each }))]),
    );
    await writeFile(bad, "addresses: nobody");
    next = { ...config, allowlistFile: bad };
    t.match(await reloadInTurn(faucet), { status: 409, body: { problems: [/bad\.yaml/] } });
    t.match(await status(), { allowlist: { problem: null } });
    // No look is due before the test has ended.
    await take({ allowlistFile: good, allowlistPollMs: 60_000 });
    await waitFor("the new list counts", async () => (await claim(newcomer)).status === 202);
    t.equal((await claim(address)).status, 403, "who is not on it may not claim");
  });

  t.test("another gateway with another key, and how many may wait while it is away", async (t) => {
    const asked = new Set<string | undefined>();
    let isAway = false;
    const proxy = createServer(async (request, response) => {
      asked.add(request.headers["x-api-key"]?.toString());
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      if (isAway) return void response.writeHead(502).end();
      const answer = await fetch(anvil.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: Buffer.concat(chunks),
      });
      response.end(await answer.text());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    t.teardown(() => proxy.close());
    const address = proxy.address();
    const port = typeof address === "object" ? address?.port : undefined;
    next = { ...config, upstream: `http://127.0.0.1:${port}`, upstreamApiKey: "tg_secret_key_of_the_faucet" };
    const told = await reloadInTurn(faucet);
    t.match(told.body.changes, [{ path: "upstream" }, { path: "upstreamApiKey", to: "(secret)" }]);
    t.notMatch(JSON.stringify(told) + faucet.logLines.join(""), "tg_secret_key");
    config = next;
    await waitFor("the new gateway is asked", async () => asked.has("tg_secret_key_of_the_faucet"));
    isAway = true;
    await take({ queueMax: 1 });
    const waits = await claim(another());
    t.equal(waits.status, 202);
    t.match(await claim(another()), { status: 503, json: { detail: /wait already/ } });
    isAway = false;
    t.match(await faucet.ended(waits.json.claim.id), { status: "confirmed" });
  });

  t.test("what needs a restart is refused by its name, with all that came with it", async (t) => {
    const privateKey = `0x${"77".repeat(32)}`;
    next = {
      ...config,
      wallet: { kind: "development", privateKey },
      idempotencyMs: 1000,
      limits: { ...config.limits, perAddress: 1000 },
    };
    const { status: code, body } = await reloadInTurn(faucet);
    t.equal(code, 409);
    t.same(body.problems, [
      "idempotencyMs cannot change without a restart",
      "wallet.privateKey cannot change without a restart",
    ]);
    t.notMatch(JSON.stringify(body) + faucet.logLines.join(""), privateKey);
    t.match(await status(), { limits: { perAddress: config.limits.perAddress } }, "nothing of it is taken");
  });
});
