import t from "tap";
import type { About, CallToForward } from "../../../gateway/call.ts";
import { readMethodTable } from "../../../gateway/method-table.ts";
import { createAhead } from "../../../gateway/upstream/ahead.ts";
import { ownWholeAnswer, type WholeAnswer } from "../../../gateway/upstream/pool/pool-answer.ts";

const { rules } = readMethodTable(new URL("../../../config/methods.yaml", import.meta.url).pathname);
const hash = `0x${"11".repeat(32)}`;
const options = { group: "k", mayStream: false };

function call(method: string, params: unknown[], about: About): CallToForward {
  const rule = rules.get(method);
  if (rule === undefined) throw new Error(`${method} has no line`);
  return { kind: "forward", rule, paramsText: JSON.stringify(params), about };
}

/** At block 1 000, with a head that tells what it was asked to wait for and says whether that was announced. */
function startAhead({ isAnnounced = true, next = ownWholeAnswer("null") } = {}) {
  const waits: [bigint, number][] = [];
  let looks = 0;
  let asks = 0;
  const ahead = createAhead({
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
      async ask(): Promise<WholeAnswer> {
        asks += 1;
        return next;
      },
    },
  });
  return { ahead, waits, looks: () => looks, asks: () => asks };
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
        const { ahead, waits } = startAhead({ isAnnounced });
        const answer = ownWholeAnswer(text);
        const asked = call(method, [hash], "fixed");
        t.ok(ahead.concerns(asked));
        t.equal(await ahead.settle(Promise.resolve(answer), asked, options), answer);
        t.same(waits, [[1001n, 100]], method);
      }
    }
  },
);

t.test("what is at the head, below it, or not mined yet is not held back", async (t) => {
  const { ahead, waits } = startAhead();
  for (const text of ['{"blockNumber":"0x3e8"}', '{"blockNumber":"0x1"}', '{"blockNumber":null}', "null"]) {
    const receipt = call("eth_getTransactionReceipt", [hash], "fixed");
    await ahead.settle(Promise.resolve(ownWholeAnswer(text)), receipt, options);
  }
  t.same(waits, []);
  t.notOk(ahead.concerns(call("eth_getBlockByNumber", ["0x3e8", false], 1000)), "a block by its number");
  t.notOk(ahead.concerns(call("eth_getBalance", [hash, "0x3e8"], 1000)));
  t.notOk(ahead.concerns(call("eth_chainId", [], "fixed")));
});

t.test("a hash that nobody knows is asked for once more with the next block, if one comes", async (t) => {
  const block = ownWholeAnswer('{"number":"0x3e8"}');
  const unknown = ownWholeAnswer("null");
  const asked = call("eth_getBlockByHash", [hash, false], "fixed");
  const comes = startAhead({ next: block });
  t.equal(await comes.ahead.settle(Promise.resolve(unknown), asked, options), block);
  t.same(comes.waits, [[1001n, 500]]);
  t.equal(comes.asks(), 1);

  const stalled = startAhead({ isAnnounced: false });
  t.equal(await stalled.ahead.settle(Promise.resolve(unknown), asked, options), unknown);
  t.equal(stalled.asks(), 0);

  const nothingThere = startAhead();
  const index = call("eth_getTransactionByBlockHashAndIndex", [hash, "0x9"], "fixed");
  await nothingThere.ahead.settle(Promise.resolve(unknown), index, options);
  t.same(nothingThere.waits, [], "null there means that the block has no such transaction");
});
