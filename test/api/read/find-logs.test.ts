import t from "tap";
import { createKnownContracts } from "../../../api/chain/known-contracts.ts";
import { findLogs, type LogPlace } from "../../../api/read/find-logs.ts";
import { ChainUnavailableError } from "../../../lib/chain/rpc-client.ts";

const address = `0x${"a0".repeat(20)}`;
const contracts = createKnownContracts([]);

/** A chain whose blocks have so many logs, of which one answer carries `answerMax`. */
function chainOf(counts: ReadonlyMap<number, number>, answerMax: number) {
  const asked: { from: number; to: number }[] = [];
  return {
    asked,
    async logs(_address: string, range: { from: number; to: number }) {
      asked.push(range);
      const found = [...counts].flatMap(([blockNumber, count]) =>
        blockNumber < range.from || blockNumber > range.to
          ? []
          : Array.from({ length: count }, (_, logIndex) => ({
              blockNumber,
              logIndex,
              address,
              topics: [],
              data: "0x",
              transactionHash: `0x${"ab".repeat(32)}`,
            })),
      );
      if (found.length > answerMax) throw new ChainUnavailableError("too long");
      return found;
    },
  };
}

async function walk(reader: ReturnType<typeof chainOf>, { head, limit }: { head: number; limit: number }) {
  const seen: string[] = [];
  const passed: (number | null)[] = [];
  let pages = 0;
  for (let before: LogPlace | null = { block: head + 1, index: 0 }; before !== null; pages += 1) {
    const asked = reader.asked.length;
    const found = await findLogs({ reader, contracts, address, limit, before });
    t.ok(reader.asked.length - asked <= 5, "a page asks five times at most");
    seen.push(...found.data.map(({ blockNumber, index }) => `${blockNumber}.${index}`));
    passed.push(found.tooMany);
    before = found.next;
  }
  return { seen, pages, passed: passed.filter((block) => block !== null) };
}

t.test("all pages joined are all logs, each once, newest first", async (t) => {
  const counts = new Map([
    [0, 1],
    [2, 7],
    [900, 3],
    [7200, 2],
    [9000, 1],
  ]);
  for (const limit of [1, 2, 5, 100]) {
    const { seen } = await walk(chainOf(counts, 100), { head: 9500, limit });
    const all = [...counts]
      .toReversed()
      .flatMap(([block, count]) =>
        Array.from({ length: count }, (_, index) => `${block}.${count - 1 - index}`),
      );
    t.strictSame(seen, all, `${limit} a page`);
  }
});

t.test(
  "where an answer is too long, less is asked for; a block that is too long alone is passed over",
  async (t) => {
    const counts = new Map([
      [100, 1],
      [500, 50],
      [501, 1],
    ]);
    const { seen, passed } = await walk(chainOf(counts, 10), { head: 600, limit: 20 });
    t.strictSame(seen, ["501.0", "100.0"]);
    t.ok(passed.every((block) => block === 500) && passed.length > 0, "and it is told of");
  },
);
