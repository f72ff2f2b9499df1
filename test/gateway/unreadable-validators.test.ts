import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { GatewayConfig } from "../../gateway/config.ts";
import { answered, refused } from "../fakes/validators/besu-errors.ts";
import { startValidators, type Validators } from "../fakes/validators/start-validators.ts";
import { type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";

const redis = await startRedis(t);
type Validator = Validators["validators"][number];

/** What a validator says of itself that cannot be read, and the words that it is left out with. */
const unreadable: Record<string, { spoil: (validator: Validator) => void; words: string }> = {
  "no genesis block": {
    spoil: (validator) => spoilGenesis(validator, null),
    words: "its genesis block is missing",
  },
  "a genesis block without a hash": {
    spoil: (validator) => spoilGenesis(validator, { number: "0x0" }),
    words: "its genesis block cannot be read",
  },
  "an error for the genesis block": {
    spoil: (validator) =>
      validator.answer("eth_getBlockByNumber", ([number]) =>
        number === "0x0" ? refused({ code: -32603, message: "Internal error" }) : undefined,
      ),
    words: "its genesis block is answered with an error",
  },
  "a chain ID that is no number": {
    spoil: (validator) => validator.answer("eth_chainId", answered("8845")),
    words: "its chain ID cannot be read",
  },
  "no latest block": {
    spoil: (validator) =>
      validator.answer("eth_getBlockByNumber", ([number]) =>
        number === "latest" ? answered(null) : undefined,
      ),
    words: "its latest block is missing",
  },
};

function spoilGenesis(validator: Validator, genesis: unknown): void {
  validator.answer("eth_getBlockByNumber", ([number]) => (number === "0x0" ? answered(genesis) : undefined));
}

type Ready = { ready: boolean; degraded: boolean; reasons: string[] };
async function readyz({ opsUrl }: GatewayUnderTest): Promise<Ready> {
  const answer: Ready = JSON.parse(await (await fetch(`${opsUrl}/readyz`)).text());
  return answer;
}

type Line = { level: number; msg: string; validator?: string; reason?: string };
function leftOut({ logLines }: GatewayUnderTest): Line[] {
  const lines = logLines.map((line): Line => JSON.parse(line));
  return lines.filter(({ msg }) => msg === "validator is left out");
}

async function start(t: Test, cluster: Validators): Promise<GatewayUnderTest> {
  const shipped = readFileSync(new URL("../../config/methods.yaml", import.meta.url), "utf8");
  const methodsFile = join(testFolder(t), "methods.yaml");
  // A call waits its whole time for a validator: the shipped 10 s would make these tests long.
  writeFileSync(methodsFile, shipped.replace("light: { timeoutMs: 10000 }", "light: { timeoutMs: 500 }"));
  const change = (config: GatewayConfig): GatewayConfig => ({ ...config, methodsFile });
  return await startGateway(t, { redisUrl: redis.url, upstreams: cluster.urls, change });
}

t.test("what cannot be read of a validator's identity is said once, and where it can be found", async (t) => {
  const cluster = await startValidators(t, { count: 3, webSocket: false, blockTimeMs: 1000 });
  await cluster.mine(3);
  const gateway = await start(t, cluster);
  const spoiled = cluster.validator(1);
  for (const [title, { spoil, words }] of Object.entries(unreadable)) {
    gateway.logLines.length = 0;
    spoil(spoiled);
    await waitFor(title, () => leftOut(gateway).length > 0);
    const reasons = [`validator-2 is not asked: ${words}`];
    t.match(await readyz(gateway), { ready: true, degraded: true, reasons }, title);
    const status: unknown = await (await fetch(`${gateway.opsUrl}/status`)).json();
    t.match(status, { validators: [{}, { why: words, outside: "unreadable", eligible: false }, {}] });
    // Some probes later.
    const asked = spoiled.callsOf("eth_chainId");
    await waitFor("it is asked again and again", () => spoiled.callsOf("eth_chainId") > asked + 3);
    t.match(leftOut(gateway), [{ level: 40, validator: "validator-2", reason: words }]);
    t.equal(leftOut(gateway).length, 1, "once");
    await spoiled.heal();
    await waitFor("it counts again", async () => !(await readyz(gateway)).degraded);
  }
});

t.test("a reason that changes is said again", async (t) => {
  const cluster = await startValidators(t, { count: 1, webSocket: false });
  await cluster.mine(1);
  const gateway = await start(t, cluster);
  spoilGenesis(cluster.validator(0), null);
  await waitFor("the first reason", () => leftOut(gateway).length === 1);
  spoilGenesis(cluster.validator(0), {});
  await waitFor("the second", () => leftOut(gateway).length === 2);
  t.same(
    leftOut(gateway).map(({ reason }) => reason),
    ["its genesis block is missing", "its genesis block cannot be read"],
  );
});

t.test("where no validator counts, a call's 503 and /readyz say why", async (t) => {
  const cluster = await startValidators(t, { count: 3, webSocket: false });
  await cluster.mine(1);
  spoilGenesis(cluster.validator(0), null);
  cluster.validator(1).foreignChain({ chainId: 1 });
  await cluster.validator(2).die();
  const gateway = await start(t, cluster);
  const why = "1 × its genesis block is missing, 1 × another chain (chain id 1), 1 × no answer";
  t.match((await readyz(gateway)).reasons, [`no validator counts: ${why}`]);
  const { status, json } = await gateway.post({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber" });
  t.equal(status, 503);
  t.match(json, {
    error: { code: -32002, message: `No validator can be asked (${why}); try again shortly` },
  });
  t.notMatch(JSON.stringify(json), /127\.0\.0\.1/, "no address is told");
  await cluster.healAll();
  await waitFor("all count", async () => !(await readyz(gateway)).degraded);
});

t.test("validators of which none has most on its genesis block say so", async (t) => {
  const cluster = await startValidators(t, { count: 2, webSocket: false });
  await cluster.mine(1);
  cluster.validator(1).foreignChain({ chainId: 8845 });
  const gateway = await start(t, cluster);
  t.match((await readyz(gateway)).reasons, [
    /^no validator counts: 2 × validators have different genesis blocks, and none has most of them$/,
  ]);
});
