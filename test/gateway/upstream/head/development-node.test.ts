import { test } from "tap";
import { createAnvilClient } from "../../../fakes/validators/anvil-client.ts";
import { startAnvilProcess } from "../../../fakes/validators/anvil-process.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startTracker } from "./start-tracker.ts";

test("a development node alone: heads at once, bursts in order, evm_revert noticed", async (t) => {
  const anvil = await startAnvilProcess({ chainId: 8845, genesisTimestampSeconds: 1_700_000_000 });
  const client = createAnvilClient({ url: anvil.url });
  t.teardown(async () => {
    await client.close();
    await anvil.kill();
  });
  const tracker = startTracker(t, { validators: [{ url: anvil.url }], blockTimeMs: 2000 });
  await waitFor("its WebSocket, found on its own port", () => tracker.status()[0]?.source === "newHeads");
  t.equal(tracker.announced()?.number, 0n);

  const snapshot = await client.must("evm_snapshot", []);
  await client.must("anvil_mine", ["0x32"]);
  t.ok(await tracker.waitFor(50n, 1000));
  t.same(
    tracker.heads.map(({ number, skipped }) => [Number(number), Number(skipped)]),
    Array.from({ length: 51 }, (_, index) => [index, 0]),
  );

  const sinceMs = performance.now();
  await client.must("evm_revert", [snapshot]);
  await waitFor("a new epoch", () => tracker.epochs.length === 1 && tracker.eligible() === "0");
  t.ok(performance.now() - sinceMs < 3000);
  t.equal(tracker.announced()?.number, 0n);

  await client.must("evm_mine", []);
  t.ok(await tracker.waitFor(1n, 1000));
  t.same(tracker.epochs.length, 1);
});
