import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import type { GatewayConfig } from "../../../gateway/config.ts";
import { type AnvilUnderTest, startAnvil } from "../../helpers/anvil.ts";
import { coreKey, qaKey, startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { load, loadReport, writeMix } from "./load-rig.ts";

const senderMix = `
senders: { count: 4, receiptPollMs: 50 }
items:
  - { weight: 3, call: eth_getBalance, params: [$sender, latest], expect: quantity }
  - { weight: 2, name: send, send: { to: $sender, valueWei: 1 } }
  - weight: 2
    name: send and look
    sequence:
      - { send: { to: $account, valueWei: 5, wait: receipt }, save: sent }
      - { call: eth_getTransactionByHash, params: [$sent], expect: object, save: transaction }
      - { call: eth_getBlockByNumber, params: [$transaction.blockNumber, false], expect: object }
`;

t.test("a real gateway over a real chain", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [anvil.url],
    change: limitCoreKey,
  });
  const env = { TOLLGATE_KEY: qaKey };

  await t.test(
    "own accounts are funded, send in the order of their nonces, and wait for receipts",
    async (t) => {
      const mix = writeMix(t, senderMix);
      const { code, report, err } = await loadReport(
        ["--url", gateway.url, "--mix", mix, "--rate", "60", "--duration", "3s", "--max-error-rate", "0%"],
        { env },
      );
      t.strictSame(report.errors, []);
      t.equal(code, 0);
      t.match(err, /Funding 4 senders with 0\.01 tokens each from 0xf39F/);
      const sends = report.methods.find(({ label }) => label === "eth_sendRawTransaction")?.calls ?? 0;
      t.ok(sends > 30, `${sends} sends`);
      t.ok(report.minedMs.count > 10, `${report.minedMs.count} receipts`);
      t.strictSame(report.notes, []);
      t.equal(await countTransactions(anvil), sends + 4, "every send and every funding is in the chain");
    },
  );

  await t.test("the default mix is answered rightly in all its items", async (t) => {
    const { code, report } = await loadReport(
      ["--url", gateway.url, "--rate", "150", "--duration", "3s", "--max-error-rate", "0%", "--seed", "5"],
      { env },
    );
    t.strictSame(report.errors, []);
    t.equal(code, 0);
    t.strictSame(report.notes, [], "the sends of before left transactions in recent blocks");
    for (const label of ["eth_getTransactionReceipt", "eth_getBlockByHash", "batch: a dapp's page"]) {
      t.ok(
        report.methods.some((method) => method.label === label),
        label,
      );
    }
  });

  await t.test("the shipped mix with sends is answered rightly", async (t) => {
    const { code, report } = await loadReport(
      ["--url", gateway.url, "--mix", "config/mixes/sends.yaml", "--rate", "60", "--duration", "2s"],
      { env },
    );
    t.strictSame(report.errors, []);
    t.equal(code, 0);
  });

  await t.test("a key that the gateway does not know ends it before the load", async (t) => {
    const outcome = await load(["--url", gateway.url, "--rate", "5"], {
      env: { TOLLGATE_KEY: "nobody-knows-me" },
    });
    t.equal(outcome.code, 2);
    t.match(outcome.err, /answers 401: .*Check the key/);
  });

  await t.test("a funder that holds too little is told so", async (t) => {
    const mix = writeMix(t, senderMix);
    const funder = join(dirname(mix), "funder.key");
    writeFileSync(funder, `${"7".repeat(64)}\n`);
    const outcome = await load(
      ["--url", gateway.url, "--rate", "5", "--mix", mix, "--funder-key-file", funder],
      { env },
    );
    t.equal(outcome.code, 2);
    t.match(outcome.err, /The funder 0x\w{40} holds less than the 0\.01 × 4 tokens/);
  });

  await t.test("a limit that is reached is counted as 429, and the report says which one", async (t) => {
    const mix = writeMix(t, "items: [{ call: eth_blockNumber, expect: quantity }]\n");
    const { code, report } = await loadReport(
      ["--url", gateway.url, "--mix", mix, "--rate", "50", "--duration", "1s", "--max-error-rate", "1%"],
      { env: { TOLLGATE_KEY: coreKey } },
    );
    t.equal(code, 99);
    t.match(report.errors, [{ kind: "http", code: "429 rate_limited", calls: 31 }]);
    t.match(report.errors[0]?.example.message, /The key's limit is 20 points in 60 s/);
    t.equal(report.latencyMs.count, 19, "refusals do not flatter the percentiles");
  });
});

function limitCoreKey(config: GatewayConfig): GatewayConfig {
  return {
    ...config,
    keys: config.keys.map((key) => ({ ...key, ...(key.value === coreKey ? { limitPerMinute: 20 } : {}) })),
  };
}

async function countTransactions(anvil: AnvilUnderTest): Promise<number> {
  const last = Number(await anvil.rpc("eth_blockNumber"));
  const counts = await Promise.all(
    Array.from({ length: last + 1 }, (_, number) =>
      anvil.rpc("eth_getBlockTransactionCountByNumber", [`0x${number.toString(16)}`]),
    ),
  );
  return counts.reduce((sum: number, count) => sum + Number(count), 0);
}
