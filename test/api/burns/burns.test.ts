import { pino } from "pino";
import { Registry } from "prom-client";
import t from "tap";
import { createBurnAudit } from "../../../api/burns/burn-audit.ts";
import { createRpcClient, type RpcClient } from "../../../lib/chain/rpc-client.ts";
import { burnSinkAddress } from "../../../lib/fee-collector/fee-addresses.ts";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { deployOn } from "../../helpers/fee-collector.ts";
import { createPayer } from "../../helpers/pay-orders.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";
import { alice, bob, startServices } from "../support/start-world.ts";

const { anvil, ...services } = await startServices(t);
const { feeCollector } = developmentFeeSettings;
await deployOn(anvil.url);
const payer = createPayer({ chain: anvil, from: alice });
const purchase = payer.order({ source: "svc_dev", payee: null, amount: 101n, fee: 101n });
const purchased = await payer.pay(purchase);
await payer.pay(payer.order({ source: "payments", payee: bob, amount: 1000n, fee: 0n }));
const collected = await payer.transferAndCollect(
  payer.order({ source: "payments", payee: bob, amount: 1000n, fee: 100n }),
  500n,
);
const head = Number(await anvil.rpc("eth_blockNumber"));
const api = await startApi(t, services);
await indexed(api);

const logger = pino({ level: "silent" });
const pool = createPostgresPool({ url: services.postgresUrl, name: "test", logger });
const rpc = createRpcClient({ url: anvil.url, timeoutMs: 10_000 });
t.teardown(async () => {
  await pool.end();
  await rpc.stop();
});

t.test("burns are told with the contract, and with what lies in the burn sink", async (t) => {
  const { json } = await api.get("/api/v1/fees/burns");
  t.match(json, {
    contract: feeCollector,
    burnSink: { address: burnSinkAddress, code: "0x00", balance: "45" },
    totals: { payments: 2, amount: "151", burned: "45", treasury: "106" },
    sources: [
      { source: "svc_dev", payments: 1, amount: "101", burned: "30", treasury: "71" },
      { source: "payments", payments: 1, amount: "50", burned: "15", treasury: "35" },
    ],
  });
  const query = { query: "{ burns { contract burnSink { address code balance } totals { burned } } }" };
  const answer = await fetch(`${api.url}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(query),
  });
  t.match(await answer.json(), {
    data: { burns: { contract: feeCollector, burnSink: { balance: "45" }, totals: { burned: "45" } } },
  });
});

t.test("a payment out of a deposit box has no payer, one without a fee burns nothing", async (t) => {
  const { json } = await api.get("/api/v1/fees/burns/events");
  t.match(json, {
    data: [
      { transactionHash: collected, source: "payments", payer: null, amount: "50" },
      { transactionHash: purchased, source: "svc_dev", payer: alice, amount: "101", burned: "30" },
    ],
  });
  const page = await api.get("/burns", { Accept: "text/html", "Accept-Language": "en" });
  t.match(page.text, burnSinkAddress);
  t.match(page.text, "a deposit address");
});

t.test("the contract stands among the known ones, with its ABI, and its calls have names", async (t) => {
  t.match(await api.get("/api/v1/network/contracts"), {
    json: { data: [{ name: "FeeCollector", address: feeCollector }] },
  });
  const abi = await api.get("/api/v1/network/contracts/FeeCollector/abi.json");
  t.match(abi.text, /"Collected"/);
  t.match(await api.get(`/api/v1/transactions/${purchased}`), {
    json: { method: { name: "pay" }, receipt: { logs: [{ event: { name: "Paid" } }] } },
  });
});

t.test("sums that agree are no trouble, also where somebody gave tokens to the sink", async (t) => {
  const audit = startAudit(t, rpc);
  await audit.compare();
  t.equal(audit.problem(), undefined);
  t.match(await audit.metrics(), /^api_burn_differences 0$/m);
  t.match(await audit.metrics(), new RegExp(`^api_burn_compared_block ${head}$`, "m"));
  const generous = startAudit(
    t,
    lying("eth_getBalance", () => "0xffff"),
  );
  await generous.compare();
  t.equal(generous.problem(), undefined);
});

t.test("a sink that holds less than was burned, or another sum on chain, is told", async (t) => {
  const short = startAudit(
    t,
    lying("eth_getBalance", () => "0x2c"),
  );
  await short.compare();
  t.match(short.problem(), "45 wei were burned, but 44 lie in the burn sink");
  t.match(await short.metrics(), /^api_burn_differences 1$/m);
  const other = startAudit(
    t,
    lying("eth_call", (result) => String(result).replace(/1e$/, "1d")),
  );
  await other.compare();
  t.match(other.problem(), "svc_dev: 30 of 101 wei in the index, 29 of 101 on chain");
});

t.test("a chain that does not answer compares nothing, and leaves what was found", async (t) => {
  let isAway = false;
  const audit = startAudit(t, {
    async askAll(calls) {
      if (isAway) return calls.map(() => ({ error: { code: -32000, message: "gone", ofGateway: true } }));
      return lying("eth_getBalance", () => "0x0").askAll(calls);
    },
  });
  await audit.compare();
  isAway = true;
  await audit.compare();
  t.match(audit.problem(), "0 lie in the burn sink");
});

t.test("an index whose sums were altered makes the API tell so, and is in order when they are", async (t) => {
  await api.stop();
  await pool.query("update chain.burn_total set burned = burned + 1 where source = 'svc_dev'");
  const altered = await startApi(t, services);
  const readyz = async () => (await fetch(`${altered.opsUrl}/readyz`)).text();
  await waitFor("it is told", async () =>
    (await readyz()).includes("svc_dev: 31 of 101 wei in the index, 30 of 101 on chain"),
  );
  t.match(await (await fetch(`${altered.opsUrl}/metrics`)).text(), /^api_burn_differences 1$/m);
  await pool.query("update chain.burn_total set burned = burned - 1 where source = 'svc_dev'");
  const audit = startAudit(t, rpc);
  await audit.compare();
  t.equal(audit.problem(), undefined);
});

function startAudit(t: Teardown, of: Pick<RpcClient, "askAll">) {
  const registry = new Registry();
  const audit = createBurnAudit({ rpc: of, db: pool, feeCollector, registry, logger });
  t.teardown(audit.stop);
  return { ...audit, metrics: () => registry.metrics() };
}

/** A node that answers one method in its own way. */
function lying(method: string, answer: (result: unknown) => unknown): Pick<RpcClient, "askAll"> {
  return {
    async askAll(calls) {
      const answers = await rpc.askAll(calls);
      return answers.map((one, index) =>
        calls[index]?.method === method && "result" in one ? { result: answer(one.result) } : one,
      );
    },
  };
}

async function indexed(api: { get(path: string): Promise<{ text: string }> }): Promise<void> {
  await waitFor("the index has the chain's head", async () =>
    (await api.get("/api/v1/blocks?limit=1")).text.includes(`"indexedBlock":${head}`),
  );
}
