import { once } from "node:events";
import { connect } from "node:net";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { waitFor } from "../helpers/wait-for.ts";
import {
  ask,
  developmentWallet,
  openHeads,
  openSocket,
  post,
  readHead,
  signed,
  within,
} from "./validators/rpc.ts";
import { startValidators } from "./validators/start-validators.ts";

const cluster = await startValidators(t, { connectionsMax: 20 });
const first = cluster.validator(0);
const second = cluster.validator(1);
const { url, wsUrl = "" } = first;
const [alice, bob] = [developmentWallet(0), developmentWallet(1)];
await cluster.mine(5);

const chainIdCall = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"eth_chainId","params":[]}`;
const three = `[${[1, 2, 3].map(chainIdCall).join(",")}]`;

t.test(
  "a lagging validator shows an older chain, in blocks, state and receipts, and catches up",
  async (t) => {
    await ask(url, "eth_sendRawTransaction", [await signed(alice, 0, { to: bob.address, value: 5n })]);
    await cluster.gossiped();
    const block = await cluster.mine();
    const hash = block?.transactions[0]?.hash;
    await cluster.mine();
    const height = cluster.height();
    const balance = await ask(url, "eth_getBalance", [bob.address, "latest"]);

    first.lag(2);
    t.equal(first.height(), height - 2);
    t.strictSame(await ask(url, "eth_blockNumber"), { result: `0x${(height - 2).toString(16)}` });
    t.match(await ask(url, "eth_getBlockByNumber", ["latest", false]), {
      result: { hash: block?.parentHash },
    });
    t.strictSame(await ask(url, "eth_getBlockByNumber", [`0x${height.toString(16)}`, false]), {
      result: null,
    });
    t.strictSame(await ask(url, "eth_getBlockByHash", [block?.hash, false]), { result: null });
    t.strictSame(await ask(url, "eth_getTransactionReceipt", [hash]), { result: null });
    t.notSame(await ask(url, "eth_getBalance", [bob.address, "latest"]), balance);
    t.match(await ask(url, "eth_getBalance", [bob.address, `0x${height.toString(16)}`]), {
      error: { code: -32602 },
    });
    t.match(await ask(url, "eth_getBalance", [bob.address, { blockHash: block?.hash }]), {
      error: { code: -32000 },
    });
    t.strictSame(await ask(url, "eth_call", [{ to: bob.address }, `0x${height.toString(16)}`]), {
      result: null,
    });

    await answersAgain(t);
    t.strictSame(await ask(url, "eth_getBalance", [bob.address, "latest"]), balance);
    t.match(await ask(url, "eth_getTransactionReceipt", [hash]), { result: { status: "0x1" } });
  },
);

t.test(
  "heads are held back while a validator lags, is frozen or imports late, and then come in order",
  async (t) => {
    const socket = await openHeads(wsUrl);
    const heads = async (count: number) => {
      const numbers: number[] = [];
      for (let taken = 0; taken < count; taken += 1)
        numbers.push(Number(readHead(await socket.next())["number"]));
      return numbers;
    };
    const start = cluster.height();
    for (const hold of [() => first.lag(2), first.freeze, () => first.delayImports(60_000)]) {
      const from = cluster.height();
      hold();
      await cluster.mine(2);
      await ask(url, "eth_chainId");
      t.strictSame(socket.frames, []);
      t.equal(first.height(), from);
      await first.heal();
      t.strictSame(await heads(2), [from + 1, from + 2]);
    }
    t.equal(cluster.height(), start + 6);

    first.delayImports(30);
    const asked = performance.now();
    await cluster.mine();
    t.strictSame(await heads(1), [start + 7]);
    t.ok(performance.now() - asked > 25);
    await socket.close();
    await answersAgain(t);
  },
);

t.test("a hung validator accepts and answers nothing, keeps its sockets, and answers late", async (t) => {
  const socket = await openHeads(wsUrl);
  first.hang();
  const waiting = post(url, chainIdCall(9));
  socket.send(chainIdCall(8));
  const upgrade = openSocket(wsUrl);
  const pong = once(socket.socket, "pong");
  socket.socket.ping();
  await cluster.mine();
  t.equal(await within(waiting), "pending");
  t.equal(await within(pong, 1), "pending");
  t.equal(await within(upgrade, 1), "pending");
  t.strictSame(socket.frames, []);
  t.equal(socket.socket.readyState, WebSocket.OPEN);
  t.equal(first.calls.inFlight, 1);

  await first.heal();
  t.match((await waiting).text, /"id":9,"result":"0x228d"/);
  await pong;
  await (await upgrade).close();
  const frames = [await socket.next(), await socket.next()];
  t.ok(frames.some((frame) => frame.includes('"id":8')));
  t.ok(frames.some((frame) => frame.includes("eth_subscription")));
  await socket.close();
  await answersAgain(t);
});

t.test(
  "a dead validator refuses connections, forgets its pool and filters, and comes back on its port",
  async (t) => {
    const socket = await openHeads(wsUrl);
    const keptAlive = connect(Number(new URL(url).port), "127.0.0.1");
    keptAlive.on("error", () => {});
    await once(keptAlive, "connect");
    const filter = (await ask(url, "eth_newBlockFilter"))["result"];
    first.slow(10_000);
    const inFlight = post(url, chainIdCall(1));
    await waitFor("the slow call is under way", () => first.calls.inFlight > 0, { everyMs: 1 });
    const keptAliveClosed = once(keptAlive, "close");
    await ask(second.url, "eth_sendRawTransaction", [await signed(bob, 10)]);
    await cluster.gossiped();
    t.equal(first.pendingHashes().length, 1);

    await first.die();
    await t.rejects(inFlight);
    await keptAliveClosed;
    t.equal(await socket.closed, 1006);
    await t.rejects(post(url, chainIdCall(1)), { code: "ECONNREFUSED" });
    await t.rejects(openSocket(wsUrl));
    await cluster.mine(2);

    await first.comeBack();
    await answersAgain(t);
    t.match(await ask(url, "eth_getFilterChanges", [filter]), { error: { message: "Filter not found" } });
    t.strictSame(first.pendingHashes(), []);
    t.equal(second.pendingHashes().length, 1);
  },
);

t.test("a slow validator takes its time a request, a slow method a call", async (t) => {
  const timed = async (body: string) => {
    const start = performance.now();
    await post(url, body);
    return performance.now() - start;
  };
  first.slow(60);
  t.ok((await timed(three)) >= 59);
  await answersAgain(t);
  first.latency("eth_chainId", 100);
  t.ok((await timed(three)) >= 297, "an array's calls run one after the other");
  t.ok((await timed('{"jsonrpc":"2.0","id":1,"method":"net_version"}')) < 100);
  await answersAgain(t);
});

t.test("HTTP and WebSocket share the worker threads: one call too many waits, on either", async (t) => {
  const busy = await startValidators(t, { count: 1, workersMax: 2 });
  const only = busy.validator(0);
  if (only.wsUrl === undefined) throw new Error("WebSockets were asked for");
  const socket = await openSocket(only.wsUrl);
  only.latency("eth_gasPrice", 250);
  const gasPrice = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}';
  const slow = [1, 2].map(() => post(only.url, gasPrice));
  await waitFor("both slow calls are under way", () => only.calls.inFlight === 2, { everyMs: 1 });
  const fast = post(only.url, chainIdCall(1));
  socket.send(chainIdCall(2));
  t.equal(await within(fast), "pending");
  t.strictSame(socket.frames, []);
  await Promise.all(slow);
  t.match((await fast).text, /0x228d/);
  t.match(await socket.next(), /0x228d/);
  t.equal(only.calls.inFlightMax, 3);

  // With a free worker a slow call on one WebSocket still holds up every other WebSocket, and no HTTP call.
  const other = await openSocket(only.wsUrl);
  socket.send(gasPrice);
  await waitFor("the third slow call has come", () => only.callsOf("eth_gasPrice") === 3, { everyMs: 1 });
  other.send(chainIdCall(3));
  t.match((await post(only.url, chainIdCall(4))).text, /0x228d/);
  t.strictSame(other.frames, []);
  t.match(await other.next(), /0x228d/);
  t.equal(socket.frames.length, 1);
});

t.test("WebSockets can be refused, dropped or silent while HTTP goes on", async (t) => {
  const open = await openHeads(wsUrl);
  first.refuseWebSockets();
  await t.rejects(openSocket(wsUrl), { message: /503/ });
  t.equal(open.socket.readyState, WebSocket.OPEN);
  first.dropWebSockets();
  t.equal(await open.closed, 1006);
  await answersAgain(t);

  const silent = await openHeads(wsUrl);
  first.silentWebSocket();
  await cluster.mine();
  silent.send(chainIdCall(4));
  t.match(await silent.next(), /"id":4/);
  t.strictSame(silent.frames, []);
  await first.heal();
  const block = await cluster.mine();
  t.equal(readHead(await silent.next())["hash"], block?.hash);
  await silent.close();
});

t.test("a message above a mebibyte ends its WebSocket without a word", async (t) => {
  const socket = await openSocket(wsUrl);
  socket.send(`${chainIdCall(1)}${" ".repeat(1_024 * 1_024)}`);
  t.equal(await socket.closed, 1000);
  t.strictSame(socket.frames, []);
});

t.test("one connection above the limit is closed without an answer", async (t) => {
  const port = Number(new URL(url).port);
  first.connectionLimit(first.calls.connections + 1);
  const taken = connect(port, "127.0.0.1");
  await once(taken, "connect");
  await waitFor("the first connection is counted", () => first.calls.connections > 0, { everyMs: 1 });
  const surplus = connect(port, "127.0.0.1");
  surplus.on("error", () => {});
  surplus.write("POST / HTTP/1.1\r\n");
  const heard: Buffer[] = [];
  surplus.on("data", (chunk) => heard.push(chunk));
  await once(surplus, "close");
  t.strictSame(heard, []);
  t.equal(taken.closed, false);
  taken.destroy();
  await once(taken, "close");
  await answersAgain(t);
});

t.test("a validator without a WebSocket port has none, and counts what it was asked", async (t) => {
  const plain = await startValidators(t, { count: 1, webSocket: false });
  const only = plain.validator(0);
  t.equal(only.wsUrl, undefined);
  await post(only.url, three);
  await post(only.url, three.replace("eth_chainId", "net_version"));
  await post(only.url, chainIdCall(1));
  t.match(only.calls, { requests: 3, items: 7, singles: 1, arrays: 2, arrayLengthMax: 3, inFlight: 0 });
  t.strictSame([...only.calls.arrayLengths], [[3, 2]]);
  t.equal(only.callsOf("eth_chainId"), 6);
  t.equal(only.callsOf("net_version"), 1);
  t.strictSame(only.calls.bodies.at(-1), chainIdCall(1));
  only.resetCalls();
  t.match(only.calls, { requests: 0, items: 0, bodies: [] });
  t.equal(only.callsOf("eth_chainId"), 0);
});

/** The test's last word: whatever was wrong, a healed validator answers as the others do. */
async function answersAgain(t: Test): Promise<void> {
  await first.heal();
  t.strictSame(await ask(url, "eth_blockNumber"), await ask(second.url, "eth_blockNumber"));
}
