import t from "tap";
import { createWalletTurns } from "../../../api/merchant/wallet-turns.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { send } from "./support/sign-in.ts";
import { keysPath, newcomer, orderKey, startShop } from "./support/start-shop.ts";

t.test(
  "what one wallet asks runs one after the other, whatever becomes of it, and others do not wait",
  async (t) => {
    const turns = createWalletTurns();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const work =
      (name: string, until: Promise<void> = Promise.resolve()) =>
      async () => {
        log.push(`${name} begins`);
        await until;
        log.push(`${name} ends`);
        return name;
      };
    const first = turns.take("a", work("a1", gate.promise));
    const failing = turns.take("a", async () => {
      throw new Error("a2 failed");
    });
    const third = turns.take("a", work("a3"));
    t.equal(await turns.take("b", work("b1")), "b1");
    t.same(log, ["a1 begins", "b1 begins", "b1 ends"]);
    gate.resolve();
    t.equal(await first, "a1");
    await t.rejects(failing, { message: "a2 failed" });
    t.equal(await third, "a3");
    t.same(log.slice(3), ["a1 ends", "a3 begins", "a3 ends"]);
  },
);

t.test("more than a hundred that wait are refused, until they have ended", async (t) => {
  const turns = createWalletTurns();
  const gate = Promise.withResolvers<string>();
  const waiting = Array.from({ length: 100 }, () => turns.take("a", () => gate.promise));
  t.match(await turns.take("a", async () => "late"), { refused: "rate_limited" });
  gate.resolve("done");
  t.same([...new Set(await Promise.all(waiting))], ["done"]);
  t.equal(await turns.take("a", async () => "again"), "again");
});

t.test("a wallet whose requests all wait for its lock leaves connections for everybody else", async (t) => {
  const { api, services } = await startShop(t, {
    change: (config) => ({ ...config, postgres: { ...config.postgres, connectionsMax: 2 } }),
  });
  const [busy, other] = [await newcomer(api), await newcomer(api)];
  await orderKey(api, busy.headers);
  const holder = await connectPostgres({
    ...{ url: services.postgresUrl, name: "holder", logger: { info() {}, warn() {} } },
  });
  t.teardown(() => holder.end());
  await holder.query("begin");
  await holder.query("select 1 from svc.wallets where address = $1 for update", [
    Buffer.from(busy.wallet.slice(2), "hex"),
  ]);
  const waiting = Array.from({ length: 8 }, async () => {
    const answer = await send(api, keysPath, { headers: busy.headers, body: { package: "monthly" } });
    return answer.status;
  });
  await waitFor("one of them waits for the lock", async () => {
    const { rows } = await holder.query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    return rows.length === 1;
  });
  await orderKey(api, other.headers);
  await holder.query("rollback");
  for (const status of await Promise.all(waiting)) t.ok([402, 503].includes(status), String(status));
});
