import t from "tap";
import { keepLatestBlock } from "../../../api/chain/latest-block.ts";
import type { BlockWithHeader } from "../../../api/chain/rpc-records.ts";
import type { Head } from "../../../api/follower/head-watch.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const word = (value: number) => `0x${String(value).padStart(64, "0")}`;
const blockOf = (number: number): BlockWithHeader => ({
  ...{
    number,
    hash: word(number),
    parentHash: word(number - 1),
    timestamp: number,
    miner: `0x${"1".repeat(40)}`,
  },
  ...{
    gasUsed: 0n,
    gasLimit: 0n,
    baseFeePerGas: null,
    size: 0,
    extraData: "0x",
    transactions: [],
    header: {},
  },
  ...{ transactionsRoot: word(1), receiptsRoot: word(1), stateRoot: word(1) },
});

t.test("a head whose block could not be read is asked for again, also while no other follows", async (t) => {
  const listeners = new Set<(head: Head) => void>();
  const told: number[] = [];
  let failures = 2;
  const latest = keepLatestBlock({
    reader: {
      async block() {
        failures -= 1;
        if (failures >= 0) throw new Error("away");
        return blockOf(7);
      },
    },
    heads: {
      onHead(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    onBlock: ({ number }) => told.push(number),
    logger: { warn() {} },
    retryMs: 5,
  });
  for (const listener of listeners) listener({ number: 7, hash: word(7) });
  await waitFor("the block is there", () => latest.block()?.number === 7);
  t.same(told, [7]);
  latest.stop();
  t.equal(listeners.size, 0);
});
