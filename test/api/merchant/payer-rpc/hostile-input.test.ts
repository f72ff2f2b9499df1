import fc from "fast-check";
import t from "tap";
import { z } from "zod";
import { developmentFeeSettings } from "../../../../lib/fee-collector/fee-settings.ts";
import "../../../helpers/property-seed.ts";
import { Transaction } from "ethers";
import { wordsOfLibraries } from "../../support/problem.ts";
import { startServices } from "../../support/start-world.ts";
import { startLyingNode } from "../support/lying-node.ts";
import { methodsThatPass } from "./support/methods-that-pass.ts";
import { sign, startPayerRpc } from "./support/start-payer-rpc.ts";

/* Random bodies, parameters and transactions: each is answered in JSON-RPC's words, and none is an error of ours. */

const { upstream, ...services } = await startServices(t);
const sent: string[] = [];
const gateway = await startLyingNode(t, {
  upstream,
  onCall: ({ method, params }) => {
    if (method === "eth_sendRawTransaction") sent.push(String(params[0]));
  },
});
const many = 1_000_000;
const rig = await startPayerRpc(t, {
  given: { ...services, upstream: gateway.url },
  change: (config) => ({
    ...config,
    payerRpc: {
      ...config.payerRpc,
      callsPerMinute: many,
      transactionsPerMinute: many,
      sharedTransactionsPerMinute: many,
    },
  }),
});
const numRuns = 200;

const one = z.strictObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.unknown().optional(),
  error: z
    .strictObject({
      code: z.int().refine((code) => code !== -32603),
      message: z.string(),
      data: z.unknown().optional(),
    })
    .optional(),
});
const answers = z.union([one, z.array(one).min(1)]);

async function isAnswered(body: string): Promise<void> {
  const { status, text } = await rig.post(body);
  if (status === 204) return;
  answers.parse(JSON.parse(text));
  if (status >= 500 || wordsOfLibraries.test(text)) throw new Error(`${status}: ${text}`);
}

t.test("whatever the body is", async () => {
  const json = fc.json({ maxDepth: 4 });
  const call = fc.record(
    {
      jsonrpc: fc.oneof(
        { weight: 9, arbitrary: fc.constant("2.0") },
        { weight: 1, arbitrary: fc.jsonValue() },
      ),
      id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue({ maxDepth: 1 })),
      method: fc.oneof(fc.constantFrom(...methodsThatPass), fc.string()),
      params: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    fc.string(),
    json,
    call.map((given) => JSON.stringify(given)),
    fc.array(call, { maxLength: 25 }).map((given) => JSON.stringify(given)),
  );
  await fc.assert(
    fc.asyncProperty(
      body.filter((text) => text !== ""),
      isAnswered,
    ),
    { numRuns },
  );
});

t.test("whatever a method is given", async () => {
  const hex = (bytes: number) =>
    fc
      .uint8Array({ minLength: bytes, maxLength: bytes })
      .map((given) => `0x${Buffer.from(given).toString("hex")}`);
  const value = fc.oneof(
    hex(20),
    hex(32),
    fc.constantFrom(
      "latest",
      "pending",
      "0x0",
      "0x1",
      true,
      false,
      null,
      developmentFeeSettings.feeCollector,
    ),
    fc.integer(),
    fc.record({
      from: hex(20),
      to: fc.oneof(hex(20), fc.constant(developmentFeeSettings.feeCollector)),
      data: hex(4),
    }),
    fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 3 }),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const call = fc.record({
    jsonrpc: fc.constant("2.0"),
    id: fc.constant(1),
    method: fc.constantFrom(...methodsThatPass),
    params: fc.array(value, { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(call, (given) => isAnswered(JSON.stringify(given))),
    { numRuns },
  );
});

t.test("whatever becomes of a transaction's bytes, what is sent pays as it should", async (t) => {
  const invoices = await Promise.all([
    rig.invoice({ amountIdr: 1_000_000 }),
    rig.invoice({ amountIdr: 1_000_000 }),
  ]);
  const wallet = await rig.payer();
  const [byTransfer, byContract] = invoices;
  if (byTransfer === undefined || byContract === undefined) throw new Error("two were made");
  const raws = [
    // So little that it stays open, however often it is paid.
    await sign(wallet, { ...byTransfer.transfer, value: 1n }, { type: 2 }),
    await sign(
      wallet,
      { ...byTransfer.transfer, value: 1n },
      { type: 0, gasPrice: 1n, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined },
    ),
    await sign(wallet, byContract.pay, { type: 2, nonce: 9 }),
  ].map((raw) => Buffer.from(raw.slice(2), "hex"));
  const changed = fc
    .tuple(
      fc.constantFrom(...raws),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 3 }),
      fc.constantFrom<"keep" | "cut" | "grow">("keep", "keep", "keep", "cut", "grow"),
    )
    .map(([raw, edits, length]) => {
      const bytes = Buffer.from(raw);
      for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
      if (length === "cut") return bytes.subarray(0, -1);
      return length === "grow" ? Buffer.concat([bytes, Buffer.from([0])]) : bytes;
    });
  await fc.assert(
    fc.asyncProperty(changed, (bytes) =>
      isAnswered(
        JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "eth_sendRawTransaction",
          params: [`0x${bytes.toString("hex")}`],
        }),
      ),
    ),
    { numRuns },
  );
  for (const raw of sent) {
    const { to, data, value, chainId, gasLimit } = Transaction.from(raw);
    const isTransfer = to === byTransfer.transfer.to && data === "0x" && value > 0n;
    const isPay = to === byContract.pay.to && data === byContract.pay.data && value === byContract.pay.value;
    t.ok((isTransfer || isPay) && chainId === 8845n && gasLimit <= 400_000n, raw);
  }
  t.ok(
    sent.length > 10,
    `${sent.length} were sent: some changes leave a payment, from whoever would have signed it`,
  );
});
