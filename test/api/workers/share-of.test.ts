import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import t from "tap";
import { type ApiConfig, readApiConfig } from "../../../api/config.ts";
import { createApiWorkers } from "../../../api/workers/api-workers.ts";
import { shareOf } from "../../../api/workers/share-of.ts";

const file = fileURLToPath(new URL("../../../config/api.yaml", import.meta.url));
const read = (env: Readonly<Record<string, string>> = {}) => readApiConfig({ file, env });

/** What a process may hold of what there is for all. */
const bounds = ({ postgres, live, checkout, svcDev, payerRpc, cacheBytesMax }: ApiConfig) => [
  postgres.connectionsMax,
  live.clientsMax,
  checkout.clientsMax,
  svcDev.events.clientsMax,
  payerRpc.inFlightMax,
  cacheBytesMax,
];

t.test("workers hold together no more than the file says, and nearly as much", async (t) => {
  const whole = read();
  for (let workers = 2; workers <= 5; workers += 1) {
    const shares = bounds(shareOf(whole, { workers }));
    for (const [index, all] of bounds(whole).entries()) {
      const held = (shares[index] ?? 0) * workers;
      t.ok(held <= all && held > all - workers, `${workers} hold ${held} of ${all}`);
    }
  }
  const share = shareOf(whole, { workers: 4 });
  t.equal(share.live.perAddressMax, whole.live.perAddressMax, "an address may come to any of them");
  t.same(share.limits, whole.limits, "this is counted over all in Redis");
});

t.test("auto is one worker a core, as far as there are two connections for each", async (t) => {
  const { count } = createApiWorkers();
  t.equal(count(read()), 1, "one process unless it is asked for");
  t.equal(count(read({ API_WORKERS: "3" })), 3);
  const config = read({ API_WORKERS: "auto" });
  const withConnections = (connectionsMax: number) =>
    count({ ...config, postgres: { ...config.postgres, connectionsMax } });
  t.equal(withConnections(2 * availableParallelism()), availableParallelism());
  t.equal(withConnections(3), 1);
  t.equal(withConnections(1), 1);
});

t.test("workers without two connections each are refused, with how many it takes", async (t) => {
  t.throws(
    () => read({ API_WORKERS: "6" }),
    /postgres\.connectionsMax: at least 12 for 6 workers were expected, which divide them/,
  );
  t.throws(() => read({ API_WORKERS: "0" }), /workers/);
  t.throws(() => read({ API_WORKERS: "many" }), /workers/);
});
