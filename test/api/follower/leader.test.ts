import { pino } from "pino";
import { test } from "tap";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { startOwnFollower } from "../../../scripts/soak/follower-crashes/own-follower.ts";
import { differences, readIndex } from "../../../scripts/soak/follower-crashes/read-index.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { waitFor } from "../../helpers/wait-for.ts";

test("when the follower that writes is stopped another goes on", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  const options = { url: anvil.url, postgresUrl };
  const first = await startOwnFollower(t, options);
  await waitFor("the first leads", () => first.standing().isLeader);
  const second = await startOwnFollower(t, options);
  await second.indexed(0);
  t.equal(second.standing().isLeader, false);

  await first.stop();
  await waitFor("the second leads", () => second.standing().isLeader);
  await anvil.rpc("evm_mine");
  await second.indexed(1);
  t.match(await second.registry.metrics(), /^api_index_leader 1$/m);
});

test("a follower whose connection is ended no longer writes, and one of the two goes on", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  const options = { url: anvil.url, postgresUrl };
  const followers = [await startOwnFollower(t, options), await startOwnFollower(t, options)];
  await Promise.all(followers.map((follower) => follower.indexed(0)));
  const admin = await connectPostgres({
    url: postgresUrl,
    name: "test",
    logger: pino({ level: "silent" }),
  });
  t.teardown(() => admin.end());
  for (const number of [1, 2, 3]) {
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    await anvil.rpc("evm_mine");
    await Promise.all(followers.map((follower) => follower.indexed(number)));
  }
  await waitFor("one leads", () => followers.filter((follower) => follower.standing().isLeader).length === 1);
});

test("two followers without a lock between them write each block once", async (t) => {
  const [anvil, postgresUrl, freshUrl] = await Promise.all([
    startAnvil(t),
    createDatabase(t),
    createDatabase(t),
  ]);
  await anvil.rpc("anvil_mine", ["0x12c"]);
  const options = { url: anvil.url, postgresUrl, arrayBlocksMax: 7 };
  const followers = [
    await startOwnFollower(t, { ...options, lock: 1n }),
    await startOwnFollower(t, { ...options, lock: 2n }),
  ];
  const from = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
  for (let count = 0; count < 40; count += 1) {
    await anvil.rpc("eth_sendTransaction", [{ from, to: from, value: `0x${(count + 1).toString(16)}` }]);
  }
  await Promise.all(followers.map((follower) => follower.indexed(340)));
  t.ok(followers.every((follower) => follower.standing().isLeader));
  const fresh = await startOwnFollower(t, { url: anvil.url, postgresUrl: freshUrl });
  await fresh.indexed(340);
  t.same(differences(await readIndex(postgresUrl), await readIndex(freshUrl)), []);
});
