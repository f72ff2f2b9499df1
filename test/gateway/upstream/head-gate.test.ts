import t from "tap";
import type { About, CallToForward } from "../../../gateway/methods/call.ts";
import { readMethodTable } from "../../../gateway/methods/method-table.ts";
import { createHeadGate } from "../../../gateway/upstream/head-gate.ts";
import { ownWholeAnswer, type UpstreamResult } from "../../../gateway/upstream/upstream-result.ts";

const { rules } = readMethodTable(new URL("../../../config/methods.yaml", import.meta.url).pathname);
const hash = `0x${"11".repeat(32)}`;
const options = { group: "k", mayStream: false };

function call(method: string, params: unknown[], about: About): CallToForward {
  const rule = rules.get(method);
  if (rule === undefined) throw new Error(`${method} has no line`);
  return { kind: "forward", rule, paramsText: JSON.stringify(params), about };
}

/** At block 1 000, with a head that tells what it was asked to wait for and says whether that was announced. */
function startAhead({
  isAnnounced = true,
  first = ownWholeAnswer("null"),
  next = ownWholeAnswer("null"),
} = {}) {
  const waits: [bigint, number][] = [];
  let looks = 0;
  let asks = 0;
  const ahead = createHeadGate({
    head: {
      announced: () => ({ number: 1000n, numberHex: "0x3e8", hash, parentHash: hash, block: {} }),
      async waitFor(number, timeoutMs) {
        waits.push([number, timeoutMs]);
        return isAnnounced;
      },
      lookSoon() {
        looks += 1;
      },
    },
    pool: {
      submit(_call, _options, settle) {
        asks += 1;
        settle(asks === 1 ? first : next);
      },
    },
  });
  const submit = (asked: CallToForward) =>
    new Promise<UpstreamResult>((settle) => ahead.submit(asked, options, settle));
  return { ahead, submit, waits, looks: () => looks, asks: () => asks };
}

t.test("a number a little above the head is waited for half a second, one far above is not", async (t) => {
  const { ahead, waits, looks } = startAhead();
  await ahead.reach(1001);
  await ahead.reach(1016);
  await ahead.reach(1017);
  await ahead.reach(2 ** 52);
  t.same(waits, [
    [1001n, 500],
    [1016n, 500],
  ]);
  t.equal(looks(), 2, "and the validators are asked for it at once");
});

t.test(
  "an answer of a later block is held back for 100 ms at most, whether it is announced or not",
  async (t) => {
    for (const isAnnounced of [true, false]) {
      for (const [method, text] of [
        ["eth_getTransactionReceipt", '{"blockHash":"0x1","blockNumber":"0x3e9","logs":[]}'],
        ["eth_getTransactionByHash", '{"blockHash":"0x1","blockNumber":"0x3e9"}'],
        ["eth_getBlockByHash", '{"number":"0x3e9"}'],
      ] as const) {
        const answer = ownWholeAnswer(text);
        const { ahead, submit, waits } = startAhead({ isAnnounced, first: answer });
        const asked = call(method, [hash], "fixed");
        t.ok(ahead.concerns(asked));
        t.equal(await submit(asked), answer);
        t.same(waits, [[1001n, 100]], method);
      }
    }
  },
);

t.test("what is at the head, below it, or not mined yet is not held back", async (t) => {
  for (const text of ['{"blockNumber":"0x3e8"}', '{"blockNumber":"0x1"}', '{"blockNumber":null}', "null"]) {
    const receipt = call("eth_getTransactionReceipt", [hash], "fixed");
    const { submit, waits, asks } = startAhead({ first: ownWholeAnswer(text) });
    await submit(receipt);
    t.same(waits, []);
    t.equal(asks(), 1);
  }
  const { ahead } = startAhead();
  t.notOk(ahead.concerns(call("eth_getBlockByNumber", ["0x3e8", false], 1000)), "a block by its number");
  t.notOk(ahead.concerns(call("eth_getBalance", [hash, "0x3e8"], 1000)));
  t.notOk(ahead.concerns(call("eth_chainId", [], "fixed")));
});

t.test("a hash that nobody knows is asked for once more with the next block, if one comes", async (t) => {
  const block = ownWholeAnswer('{"number":"0x3e8"}');
  const unknown = ownWholeAnswer("null");
  const asked = call("eth_getBlockByHash", [hash, false], "fixed");
  const comes = startAhead({ first: unknown, next: block });
  t.equal(await comes.submit(asked), block);
  t.same(comes.waits, [[1001n, 500]]);
  t.equal(comes.asks(), 2);

  const stalled = startAhead({ isAnnounced: false, first: unknown });
  t.equal(await stalled.submit(asked), unknown);
  t.equal(stalled.asks(), 1);

  const nothingThere = startAhead();
  const index = call("eth_getTransactionByBlockHashAndIndex", [hash, "0x9"], "fixed");
  await nothingThere.submit(index);
  t.same(nothingThere.waits, [], "null there means that the block has no such transaction");
});
