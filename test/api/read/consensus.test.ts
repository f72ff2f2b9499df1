import { readFile } from "node:fs/promises";
import { test } from "tap";
import { z } from "zod";
import { rpcBlock } from "../../../api/chain/rpc-records.ts";
import { readConsensus } from "../../../api/read/consensus.ts";
import { consensusRecord } from "../../../api/records/block.ts";

const vectors = new URL("../../vectors/besu-blocks.json", import.meta.url);
const recorded = z.array(z.unknown()).parse(JSON.parse(await readFile(vectors, "utf8")));
const noIndex = { query: async () => ({ rows: [], rowCount: 0, command: "SELECT" }) };
/** It was down for a while: the next validator took its turns. */
const down = /^0x558a/i;
const withoutIt = [1457, 1461, 1465];

test("of recorded blocks of five real validators it is told who sealed them and whose turn passed", async (t) => {
  for (const json of recorded) {
    const block = { ...rpcBlock.parse(json), header: json };
    const { round, sealedBy, notSealed, missedTurns, validators, quorum } = consensusRecord.parse(
      await readConsensus(noIndex, block),
    );
    const what = `block ${block.number}`;
    t.same([validators.length, quorum, sealedBy.length, notSealed.length], [5, 4, 4, 1], what);
    t.same([...sealedBy, ...notSealed].sort(), [...validators].sort(), what);
    t.equal(round, withoutIt.includes(block.number) ? 1 : 0, what);
    t.equal(missedTurns.length, round, what);
    for (const address of missedTurns) {
      t.match(address, down, what);
      t.notOk(sealedBy.includes(address), what);
    }
  }
});
