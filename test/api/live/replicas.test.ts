import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";
import { startServices } from "../support/start-world.ts";
import { startEventClient } from "./support/event-client.ts";

const clientCount = 200;
const blockCount = 40;

t.test(`${clientCount} clients see each block once over two replicas and a restart of one`, async (t) => {
  const { anvil, ...services } = await startServices(t);
  await anvil.rpc("anvil_mine", ["0x3"]);
  const startReplica = (port = 0) =>
    startApi(t, {
      ...services,
      change: (config) => ({ ...config, port, live: { ...config.live, perAddressMax: 1000 } }),
    });
  const replicas = await Promise.all([startReplica(), startReplica()]);
  // As behind a balancer: each connection of a client goes to the other one.
  const clients = Array.from({ length: clientCount }, (_, index) =>
    startEventClient((connection) => `${replicas[(index + connection) % 2]?.url}/api/v1/live`, {
      reconnectMs: 50,
    }),
  );
  t.teardown(() => {
    for (const client of clients) client.stop();
  });
  await waitFor("all listen", () => clients.every(({ lines }) => lines.length > 0));
  await anvil.rpc("anvil_mine", ["0x1"]);
  const first = Number(await anvil.rpc("eth_blockNumber"));
  await waitFor("all have seen a block", () => clients.every(({ events }) => events.length > 0));
  for (let block = 1; block <= blockCount; block += 1) {
    await anvil.rpc("anvil_mine", [block % 5 === 0 ? "0x3" : "0x1"]);
    // Replicas end between blocks, and in the middle of a block that one has told and the other has not.
    await sleep(20);
    if (block === 10) await replicas[1]?.stop();
    if (block === 20) replicas[1] = await startReplica();
    if (block === 30) await replicas[0]?.stop();
  }
  const last = Number(await anvil.rpc("eth_blockNumber"));
  await waitFor("all have seen the last", () =>
    clients.every(({ events }) => events.at(-1)?.id.startsWith(`${last}.`)),
  );
  for (const [index, { events }] of clients.entries()) {
    const seen = events.map(({ name, id }) => `${name} ${id.split(".")[0]}`);
    // Those who came before a replica's first head were told of that as well.
    const from = Math.min(first, Number(seen[0]?.slice("block ".length)));
    const expected = Array.from({ length: last - from + 1 }, (_, at) => `block ${from + at}`);
    if (seen.join() !== expected.join()) t.same(seen, expected, `client ${index}`);
  }
  t.ok(
    clients.every(({ connections }) => connections > 1),
    "each has changed its replica",
  );
});
