import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { z } from "zod";
import type { FeeOrder } from "../../lib/fee-collector/fee-order.ts";
import type { FeeEvent } from "../../lib/fee-collector/read-fee-event.ts";
import { deployFees } from "../../scripts/network/deploy-fees.ts";
import { claimant, funded } from "../../scripts/real-besu/accounts.ts";
import { paidOrder, whatIsWrong } from "../../scripts/real-besu/checks/contracts.ts";
import {
  contractAndTraces,
  whatDiffersOfConstructor,
  whatDiffersOfValue,
} from "../../scripts/real-besu/checks/traces.ts";
import { postJson, readAnswer, rpcBody } from "../../scripts/real-besu/json-rpc.ts";
import type { Chain } from "../../scripts/real-besu/transactions.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";

/** The stand-in for Besu runs nothing, so what is looked at of contracts is tried on another EVM. */
const anvil = await startAnvil(t, { recordsSteps: true });
const chainId = 8845;

async function gateway(method: string, params: readonly unknown[] = []) {
  const answer = readAnswer((await postJson(anvil.url, rpcBody(method, params))).text);
  if (answer === undefined) throw new Error("no answer");
  return answer;
}
const chain: Chain = {
  manifest: { chainId },
  gateway,
  node: (_index, method, params) => gateway(method, params),
  async until(what, isSo) {
    await anvil.rpc("evm_mine");
    await waitFor(what, isSo);
    return 0;
  },
};

t.test("an order is paid, found and refused a second time; without the contract it is NOT OK", async (t) => {
  t.match(await paidOrder(chain), { ok: false, seen: /up deployed no FeeCollector: 0x\w+ has no code/ });
  await deployFees({
    nodes: { list: [{ name: "validator-1", address: `0x${"11".repeat(20)}`, rpcUrl: anvil.url }] },
    ...{ manifest: { chainId }, folder: testFolder(t, {}), config: { profile: "development" } },
    note: t.comment,
  });
  t.match(await paidOrder(chain), {
    ok: true,
    seen: /one event with its id and shares; .* a second time is refused: ".+"$/,
  });
  t.match(await paidOrder(chain), { ok: true }, "another order is another one");
});

t.test("each thing that a payment has to come to is looked at", async (t) => {
  const order: FeeOrder = {
    ...{ ref: `0x${"01".repeat(32)}`, source: "payments" as const, payee: claimant.address },
    ...{ amount: 1_000_003n, fee: 20_007n, validUntil: 1 },
  };
  const event: FeeEvent = {
    ...{ kind: "paid", id: "0x02", source: "payments", payee: claimant.address, payer: funded.address },
    ...{ amount: 1_000_003n, fee: 20_007n, burned: 6002n },
  };
  const good = { order, id: "0x02", status: "0x1", event, gained: [979_996n, 14_005n], isTwice: false };
  t.same(whatIsWrong(good), []);
  t.match(whatIsWrong({ ...good, event: undefined }), { length: 8 });
  t.same(whatIsWrong({ ...good, status: "0x0" }), ["the payment failed: status 0x0"]);
  t.same(whatIsWrong({ ...good, event: { ...event, burned: 6001n } }), [
    "the event's burned is 6001, and not 6002",
  ]);
  t.same(whatIsWrong({ ...good, event: { ...event, id: "0x03" } }), ["the event's id is 0x03, and not 0x02"]);
  t.same(whatIsWrong({ ...good, gained: [979_996n, 14_006n] }), [
    "the treasury has 14006 more, and not 14005",
  ]);
  t.same(whatIsWrong({ ...good, isTwice: true }), ["the contract would take the order twice"]);
});

t.test("each step of a constructor is compared", async (t) => {
  t.match(await contractAndTraces(chain), { ok: true, seen: /each of the six steps/ });
  const { result } = await gateway("debug_traceTransaction", [await lastCreation()]);
  const trace = z.looseObject({ structLogs: z.array(z.looseObject({ gasCost: z.number() })) }).parse(result);
  t.same(whatDiffersOfConstructor(trace), []);
  const costlier = trace.structLogs.with(2, { ...trace.structLogs[2], gasCost: 3 });
  t.match(whatDiffersOfConstructor({ ...trace, structLogs: costlier }), [/^step 2: .*"gasCost":3.*and not/]);
  t.same(whatDiffersOfConstructor({ ...trace, structLogs: trace.structLogs.slice(1) }), [
    "5 steps were run, and not 6",
  ]);
  t.match(whatDiffersOfConstructor({ ...trace, structLogs: [{}] }), [/structLogs\.0\.pc/]);
});

t.test("the fields of a trace are those that were recorded", async (t) => {
  const file = join(import.meta.dirname, "../vectors/besu-traces.json");
  const { trace_transaction: recorded } = z
    .object({ trace_transaction: z.array(z.looseObject({ action: z.looseObject({}) })) })
    .parse(JSON.parse(readFileSync(file, "utf8")));
  const hash = `0x${"07".repeat(32)}`;
  const [call] = recorded;
  const [from, to] = [funded.address, claimant.address].map((address) => address.toLowerCase());
  const sent = {
    ...{ ...call, transactionHash: hash },
    action: { ...call?.action, from, to, input: "0x", value: "0x7" },
  };
  const steps = { gas: 21_000, failed: false, returnValue: "", structLogs: [] };
  const good = { hash, value: 7n, flat: [sent], steps };
  t.same(whatDiffersOfValue(good), []);
  t.match(whatDiffersOfValue({ ...good, value: 8n }), [/^trace_transaction says .*"value":"0x7"/]);
  t.match(whatDiffersOfValue({ ...good, flat: [{ ...sent, subtraces: undefined }] }), [/0\.subtraces/]);
  t.match(whatDiffersOfValue({ ...good, flat: [] }), [/^trace_transaction: /]);
  t.match(whatDiffersOfValue({ ...good, steps: { ...steps, failed: true } }), [/something ran/]);
});

/** The newest transaction that created a contract. */
async function lastCreation(): Promise<unknown> {
  const { result } = await gateway("eth_getBlockByNumber", ["latest", false]);
  const height = Number(z.object({ number: z.string() }).parse(result).number);
  for (let number = height; number > 0; number -= 1) {
    const block = await gateway("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]);
    const schema = z.object({
      transactions: z.array(z.object({ hash: z.string(), to: z.string().nullable() })),
    });
    const created = schema.parse(block.result).transactions.find(({ to }) => to === null);
    if (created !== undefined) return created.hash;
  }
  throw new Error("no contract was created");
}
