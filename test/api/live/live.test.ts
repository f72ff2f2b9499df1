import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import { z } from "zod";
import type { ApiConfig } from "../../../api/config.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { type ApiUnderTest, startApi } from "../support/start-api.ts";
import { startServices } from "../support/start-world.ts";
import { type EventClient, startEventClient } from "./support/event-client.ts";

const { anvil, ...services } = await startServices(t);
await anvil.rpc("anvil_mine", ["0x5"]);

const startLive = (t: Teardown, live: Partial<ApiConfig["live"]> = {}) =>
  startApi(t, {
    ...services,
    change: (config) => ({ ...config, live: { ...config.live, perAddressMax: 1000, ...live } }),
  });
const listen = (t: Teardown, ...given: Parameters<typeof startEventClient>) => {
  const client = startEventClient(...given);
  t.teardown(client.stop);
  return client;
};
const numbersOf = ({ events }: EventClient) =>
  events.filter(({ name }) => name === "block").map(({ id }) => Number(id.split(".")[0]));
const isListening = ({ lines }: EventClient) => lines.some((line) => line === "retry: 2000");
const statusSchema = z.looseObject({ liveClients: z.number() });
const clientsOf = async ({ opsUrl }: ApiUnderTest) =>
  statusSchema.parse(await (await fetch(`${opsUrl}/status`)).json()).liveClients;
const height = async () => Number(await anvil.rpc("eth_blockNumber"));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

t.test("each new block is told of once, in order, however fast they come", async (t) => {
  const api = await startLive(t);
  const first = listen(t, () => `${api.url}/api/v1/live`);
  await waitFor("it listens", () => isListening(first));
  const before = await height();
  await Promise.all(Array.from({ length: 10 }, () => anvil.rpc("anvil_mine", ["0x2"])));
  await waitFor("all are told of", () => numbersOf(first).at(-1) === before + 20);
  const told = numbersOf(first);
  t.same(told, range(told[0] ?? 0, before + 20));
  t.ok((told[0] ?? 0) <= before + 1);
  const { data, id } = first.events.at(-1) ?? { data: "", id: "" };
  const block = JSON.parse((await api.get(`/api/v1/blocks/${before + 20}`)).text);
  t.equal(id, `${block.number}.${block.hash}`);
  const { number, hash, timestamp, timestampUnix, proposer, gasUsed, transactionCount } = block;
  t.same(JSON.parse(data), { number, hash, timestamp, timestampUnix, proposer, gasUsed, transactionCount });
});

t.test("who comes back gets what it missed, of any process, or is told to begin anew", async (t) => {
  const one = await startLive(t, { replayMax: 8 });
  const other = await startLive(t, { replayMax: 8 });
  const watcher = listen(t, () => `${one.url}/api/v1/live`);
  await waitFor("it listens", () => isListening(watcher));
  const before = await height();
  for (let number = before + 1; number <= before + 20; number += 1) {
    await anvil.rpc("anvil_mine", ["0x1"]);
    await waitFor("it is told of", () => numbersOf(watcher).at(-1) === number);
  }
  const idOf = (number: number) => watcher.events.find(({ id }) => id.startsWith(`${number}.`))?.id ?? "";
  // A process that has just started, too: it reads the blocks before its first.
  const fresh = await startLive(t, { replayMax: 8 });
  for (const { url } of [one, other, fresh]) {
    const behind = listen(t, () => `${url}/api/v1/live`, { lastEventId: idOf(before + 12) });
    await waitFor("it has what it missed", () => numbersOf(behind).length >= 8);
    t.same(numbersOf(behind), range(before + 13, before + 20), "as many as are kept");
    const there = listen(t, () => `${url}/api/v1/live`, { lastEventId: idOf(before + 20) });
    const far = listen(t, () => `${url}/api/v1/live`, { lastEventId: idOf(before + 11) });
    const foreign = listen(t, () => `${url}/api/v1/live`, {
      lastEventId: `${before + 15}.0x${"ab".repeat(32)}`,
    });
    const garbage = listen(t, () => `${url}/api/v1/live`, { lastEventId: "1.7" });
    for (const client of [far, foreign, garbage]) {
      await waitFor("it is told to begin anew", () => client.events.length > 0);
      t.match(client.events, [{ name: "reset", id: idOf(before + 20), data: "{}" }]);
    }
    await waitFor("it listens", () => isListening(there));
    t.same(there.events, []);
  }
});

t.test("a client that another process has told more waits for what is new to it", async (t) => {
  const api = await startLive(t, { heartbeatMs: 300 });
  const watcher = listen(t, () => `${api.url}/api/v1/live`);
  await waitFor("it listens", () => isListening(watcher));
  const before = await height();
  const ahead = listen(t, () => `${api.url}/api/v1/live`, {
    lastEventId: `${before + 3}.0x${"cd".repeat(32)}`,
  });
  await waitFor("a block that nobody sees stays away for two heartbeats", () => ahead.events.length > 0);
  t.match(ahead.events, [{ name: "reset" }]);
  await anvil.rpc("anvil_mine", ["0x1"]);
  await waitFor("then it is told as the others", () => numbersOf(ahead).includes(before + 1));
});

t.test("another chain is told of as one", async (t) => {
  const api = await startLive(t);
  await anvil.rpc("anvil_mine", ["0x5"]);
  const client = listen(t, () => `${api.url}/api/v1/live`);
  await waitFor("it listens", () => isListening(client));
  await anvil.rpc("anvil_mine", ["0x1"]);
  await waitFor("the last of the old chain is told of", () => client.events.length > 0);
  await anvil.rpc("anvil_rollback", [3]);
  await anvil.rpc("evm_increaseTime", ["0x64"]);
  await anvil.rpc("anvil_mine", ["0x1"]);
  await waitFor("it is told to begin anew", () => client.events.some(({ name }) => name === "reset"));
  await anvil.rpc("anvil_mine", ["0x1"]);
  await waitFor("the new chain's blocks follow", async () => numbersOf(client).at(-1) === (await height()));
});

t.test("an address has so many connections, and a process; one that goes makes room", async (t) => {
  const api = await startLive(t, { perAddressMax: 2, clientsMax: 3 });
  const live = `${api.url}/api/v1/live`;
  const [one, two] = [listen(t, () => live), listen(t, () => live)];
  await waitFor("both listen", () => isListening(one) && isListening(two));
  const refused = await api.get("/api/v1/live");
  t.match(refused, { status: 429, json: { code: "rate_limited" } });
  t.ok(refused.headers.get("retry-after"));
  one.stop();
  const three = listen(t, () => live);
  await waitFor("there is room again", () => isListening(three));

  // Gone before it was answered: no room may be lost to it.
  const { port } = new URL(live);
  two.stop();
  three.stop();
  for (let index = 0; index < 30; index += 1) {
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.write("GET /api/v1/live HTTP/1.1\r\nHost: a\r\n\r\n", () => socket.resetAndDestroy());
    await once(socket, "close");
  }
  await waitFor("nobody listens", async () => (await clientsOf(api)) === 0);
  const last = listen(t, () => live);
  await waitFor("there is room for others", () => isListening(last));
  for (const method of ["HEAD", "POST"]) t.equal((await fetch(live, { method })).status, 405, method);
});

t.test("a process takes so many clients in all, from whatever addresses", async (t) => {
  const api = await startApi(t, {
    ...services,
    change: (config) => ({
      ...config,
      trustedProxies: ["127.0.0.1"],
      live: { ...config.live, clientsMax: 3, perAddressMax: 1 },
    }),
  });
  const aborted = new AbortController();
  t.teardown(() => aborted.abort());
  const from = (address: string) =>
    fetch(`${api.url}/api/v1/live`, {
      headers: { "X-Forwarded-For": address },
      signal: aborted.signal,
    });
  const open = [];
  for (const address of ["192.0.2.1", "192.0.2.2", "2001:db8::1"]) open.push(await from(address));
  t.same(
    open.map(({ status }) => status),
    [200, 200, 200],
  );
  t.equal((await from("192.0.2.1")).status, 503);
  t.equal((await from("192.0.2.9")).status, 503);
  await open[0]?.body?.cancel();
  await waitFor("one has gone", async () => (await from("2001:db8::2")).status === 429);
  t.equal((await from("192.0.2.9")).status, 200);
});

t.test("heartbeats come, one that does not read is let go, and the end is told to all", async (t) => {
  const api = await startLive(t, { heartbeatMs: 5, replayMax: 128 });
  const client = listen(t, () => `${api.url}/api/v1/live`, { reconnectMs: 600_000 });
  await waitFor("it is still there", () => client.lines.filter((line) => line === ": still here").length > 1);

  const { port } = new URL(api.url);
  const slow = connect(Number(port), "127.0.0.1");
  await once(slow, "connect");
  slow.pause();
  slow.write("GET /api/v1/live HTTP/1.1\r\nHost: a\r\n\r\n");
  await waitFor("both listen", async () => (await clientsOf(api)) === 2);
  const begunMs = performance.now();
  await api.stop();
  t.ok(performance.now() - begunMs < 10_000, "nobody holds the end up");
  t.equal(client.connections, 1);
  slow.destroy();
});
