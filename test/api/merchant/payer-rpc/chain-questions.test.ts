import t, { type Test } from "tap";
import { z } from "zod";
import type { RequestLimiter } from "../../../../api/limits/request-limiter.ts";
import { createChainQuestions } from "../../../../api/merchant/payer-rpc/chain-questions.ts";
import { createRpcClient } from "../../../../lib/chain/rpc-client.ts";
import { startStubValidator } from "../../../fakes/stub-validator.ts";

const standing = { allowed: true, limit: 1, remaining: 1, windowSeconds: 60, resetMs: 0 };
const noLimit: RequestLimiter = {
  charge: async () => ({ standing, refund() {} }),
  problem: () => undefined,
};

/** Asks a node that answers each call with this error. */
async function askFailing(t: Test, error: object) {
  const node = await startStubValidator(t, {
    answer: (body) => JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, error }),
  });
  const rpc = createRpcClient({ url: node.url, timeoutMs: 5000 });
  t.teardown(() => rpc.stop());
  const { ask } = createChainQuestions({
    rpc,
    limiter: noLimit,
    inFlightMax: () => 1,
    headHash: () => undefined,
  });
  return ask({ method: "eth_call", params: [], result: z.unknown() });
}

t.test(
  "a node's error keeps its code; its words are cut, and data that is no bytes is left out",
  async (t) => {
    const message = `line one\nline two\u0007 ${"x".repeat(10_000)}`;
    const outcome = await askFailing(t, { code: -32000, message, data: { stack: "at org.hyperledger" } });
    t.same(outcome, { error: { code: -32000, message: `line one line two  ${"x".repeat(281)}` } });
    const reverted = await askFailing(t, { code: 3, message: "execution reverted", data: "0x0badcafe" });
    t.same(reverted, { error: { code: 3, message: "execution reverted", data: "0x0badcafe" } });
    const long = await askFailing(t, {
      code: 3,
      message: "execution reverted",
      data: `0x${"00".repeat(2000)}`,
    });
    t.same(long, { error: { code: 3, message: "execution reverted" } });
  },
);

t.test("what a gateway says in a node's place is not the wallet's business", async (t) => {
  const data = { code: "api_key_expired" };
  const outcome = await askFailing(t, { code: -32090, message: "The API key has expired", data });
  t.match(outcome, { refused: "upstream_unavailable" });
  t.notMatch(JSON.stringify(outcome), /key/);
});
