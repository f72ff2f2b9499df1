import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import type { RpcBlock } from "../../../api/chain/rpc-records.ts";
import { createLiveFeed } from "../../../api/live/live-feed.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startEventClient } from "./support/event-client.ts";

const hashOf = (number: number, chain = "a") =>
  `0x${chain.repeat(32)}${number.toString(16).padStart(32, "0")}`;
const blockOf = (number: number, chain = "a"): RpcBlock & { header: unknown } => ({
  number,
  hash: hashOf(number, chain),
  parentHash: hashOf(number - 1, chain),
  timestamp: 1_700_000_000 + number,
  miner: `0x${"01".repeat(20)}`,
  gasUsed: 0n,
  gasLimit: 30_000_000n,
  baseFeePerGas: null,
  size: 600,
  transactionsRoot: hashOf(0),
  receiptsRoot: hashOf(0),
  stateRoot: hashOf(0),
  extraData: "0x",
  transactions: [],
  header: {},
});

/** A feed on a port of its own, over a chain that `read` stands for. */
async function startFeed(
  t: Teardown,
  read: (number: number) => Promise<ReturnType<typeof blockOf> | undefined> = async (number) =>
    blockOf(number),
) {
  const asked: (number | "latest")[] = [];
  const feed = createLiveFeed({
    reader: {
      block(tag) {
        asked.push(tag);
        return read(Number(tag));
      },
    },
    settings: { clientsMax: 10, perAddressMax: 10, replayMax: 16, heartbeatMs: 60_000 },
    logger: { warn() {} },
  });
  const server = createServer((request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const { "last-event-id": lastEventId } = request.headers;
    feed.add({
      response,
      address: "here",
      lastEventId: typeof lastEventId === "string" ? lastEventId : undefined,
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    feed.stop();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { feed, asked, port: address.port, url: `http://127.0.0.1:${address.port}/` };
}

const numbers = (events: readonly { name: string; id: string }[]) =>
  events.map(({ name, id }) => `${name} ${id.split(".")[0]}`);

t.test("one that does not read is let go before it holds much memory; the others go on", async (t) => {
  const { feed, port, url } = await startFeed(t);
  const slow = connect(port, "127.0.0.1");
  await once(slow, "connect");
  slow.on("error", () => {});
  slow.pause();
  slow.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const reading = startEventClient(() => url);
  t.teardown(reading.stop);
  await waitFor("both listen", () => feed.clients() === 2);
  let number = 1;
  // The kernel takes some megabytes before the process has to hold anything.
  for (; number < 100_000 && feed.clients() === 2; number += 1) {
    feed.announce(blockOf(number));
    await nextTurn();
  }
  t.equal(feed.clients(), 1);
  await waitFor("the other has all of them", () => reading.events.at(-1)?.id.startsWith(`${number - 1}.`));
  t.equal(reading.events.length, number - 1);
  t.equal(reading.connections, 1);
  slow.destroy();
});

t.test(
  "blocks that no head told of are read; while the chain is away they wait, and none is told of twice",
  async (t) => {
    let isAway = false;
    const { feed, asked, url } = await startFeed(t, async (number) => {
      if (isAway) throw new Error("away");
      return blockOf(number);
    });
    const client = startEventClient(() => url);
    t.teardown(client.stop);
    await waitFor("it listens", () => client.lines.length > 0);
    feed.announce(blockOf(3));
    await waitFor("the head is told of", () => client.events.length === 1);
    t.same(asked, [0, 1, 2], "those before the first, for who comes from another process");
    isAway = true;
    feed.announce(blockOf(6));
    feed.announce(blockOf(7));
    await waitFor("it was tried", () => asked.length >= 5);
    t.same(numbers(client.events), ["block 3"]);
    isAway = false;
    feed.announce(blockOf(8));
    feed.announce(blockOf(8));
    await waitFor("all are told of", () => client.events.length === 6);
    t.same(numbers(client.events), ["block 3", "block 4", "block 5", "block 6", "block 7", "block 8"]);
  },
);

t.test("what does not link to the last block begins anew", async (t) => {
  const { feed, url } = await startFeed(t);
  const client = startEventClient(() => url);
  t.teardown(client.stop);
  await waitFor("it listens", () => client.lines.length > 0);
  const told = async (count: number) => waitFor(`${count} are told`, () => client.events.length === count);
  feed.announce(blockOf(20));
  await told(1);
  feed.announce(blockOf(21, "b"));
  await told(2);
  feed.announce(blockOf(22, "b"));
  await told(3);
  feed.announce(blockOf(5, "c"));
  await told(4);
  feed.announce(blockOf(5 + 18, "c"));
  await told(5);
  t.same(numbers(client.events), ["block 20", "reset 21", "block 22", "reset 5", "reset 23"]);
  const late = startEventClient(() => url, { lastEventId: `5.${hashOf(5, "c")}` });
  t.teardown(late.stop);
  await waitFor("of what was before nothing is kept", () => late.events.length === 1);
  t.same(numbers(late.events), ["reset 23"]);
});

t.test("who comes before the first head has what it missed with it", async (t) => {
  const { feed, url } = await startFeed(t);
  const known = startEventClient(() => url, { lastEventId: `7.${hashOf(7)}` });
  const fresh = startEventClient(() => url);
  const unknown = startEventClient(() => url, { lastEventId: "garbage" });
  for (const client of [known, fresh, unknown]) t.teardown(client.stop);
  await waitFor("they listen", () => feed.clients() === 3);
  feed.announce(blockOf(9));
  await waitFor(
    "they are told",
    () => known.events.length === 2 && fresh.events.length === 1 && unknown.events.length === 2,
  );
  t.same(
    [known, fresh, unknown].map(({ events }) => numbers(events)),
    [["block 8", "block 9"], ["block 9"], ["reset garbage", "block 9"]],
  );
});
