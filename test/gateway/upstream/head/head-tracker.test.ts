import { test } from "tap";
import { waitFor } from "../../../helpers/wait-for.ts";
import { createHeaderChain } from "./header-chain.ts";
import { startTracker } from "./start-tracker.ts";
import { type StubNode, startStubNode } from "./stub-node.ts";

const chain = createHeaderChain("ours");
/** Probes so rare that within a test only the WebSocket can have brought something. */
const rareProbes = { probeIntervalMs: 60_000, socketSilentMs: 60_000 };

test("heads come by one WebSocket a validator, with one subscription and nothing else on it", async (t) => {
  const one = await startStubNode(t, { chain, height: 10 });
  const two = await startStubNode(t, { chain, height: 10, webSocket: "next" });
  const tracker = startTracker(t, { validators: [one, { url: two.url }], limits: rareProbes });
  await waitFor("both are subscribed to", () => tracker.said("heads by WebSocket").length === 2);
  await waitFor("the first head", () => tracker.announced()?.number === 10n);
  t.equal(tracker.said("no heads by WebSocket, polling").length, 0, "to look for the port is no trouble");
  // Heads count only after a question that was asked when the WebSocket stood.
  await waitFor("both WebSockets count", () => tracker.status().every(({ source }) => source === "newHeads"));
  one.mine();
  two.mine();
  t.ok(await tracker.waitFor(11n, 1000));
  t.match(tracker.announced(), { hash: chain.block(11).hash, numberHex: "0xb" });
  t.same(tracker.announced()?.block, chain.block(11).block, "as the validator wrote it");
  t.equal(tracker.announced()?.numberHex, "0xb");
  const subscribe = '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}';
  t.same([one.messages, two.messages], [[subscribe], [subscribe]]);
  t.same(
    tracker.status().map(({ identity, source, height, lag }) => ({ identity, source, height, lag })),
    Array.from({ length: 2 }, () => ({ identity: "ours", source: "newHeads", height: 11, lag: 0 })),
  );
});

test("a validator without a WebSocket is polled, and blocks between two polls are fetched", async (t) => {
  const node = await startStubNode(t, { chain, height: 10, webSocket: "none" });
  const tracker = startTracker(t, { validators: [node] });
  await waitFor("the first head", () => tracker.announced()?.number === 10n);
  node.become({ height: 30 });
  t.ok(await tracker.waitFor(30n, 1000));
  t.same(
    tracker.heads.map(({ number, skipped }) => [Number(number), Number(skipped)]),
    Array.from({ length: 21 }, (_, index) => [10 + index, 0]),
  );
  t.equal(tracker.status()[0]?.source, "polling");
  t.equal(tracker.said("no heads by WebSocket, polling").length, 1, "said once, however often it is tried");
});

test("`none` keeps a validator from being asked for a WebSocket", async (t) => {
  const node = await startStubNode(t, { chain, height: 10 });
  const tracker = startTracker(t, { validators: [{ url: node.url, wsUrl: "none" }] });
  await waitFor("the first head", () => tracker.announced()?.number === 10n);
  node.become({ height: 11 });
  t.ok(await tracker.waitFor(11n, 1000));
  t.equal(node.subscriptions(), 0);
});

test("a WebSocket that falls silent is noticed: heads come by polling and it is made anew", async (t) => {
  const node = await startStubNode(t, { chain, height: 10 });
  const limits = { socketSilentMs: 300, socketRetryMinMs: 50 };
  const tracker = startTracker(t, { validators: [node], limits });
  await waitFor("a subscription", () => tracker.announced()?.number === 10n && node.subscriptions() === 1);
  node.faults.silent = true;
  let missed = 0;
  let sources = "";
  for (let number = 11n; number < 60n && node.subscriptions() < 2; number += 1n) {
    node.mine();
    if (!(await tracker.waitFor(number, 1000))) missed += 1;
    sources += ` ${tracker.status()[0]?.source}`;
  }
  t.ok(node.subscriptions() >= 2, "the WebSocket is made anew");
  t.equal(missed, 0, "no head was missed");
  t.match(sources, /newHeads.* polling/);
  node.faults.silent = false;
  // Without heads a busy machine would find the new one silent as well.
  await waitFor(
    "heads come by the new WebSocket",
    () => {
      node.mine();
      return tracker.status()[0]?.source === "newHeads" && tracker.said("heads by WebSocket").length >= 2;
    },
    { everyMs: 50 },
  );
  t.ok((tracker.status()[0]?.wsReconnects ?? 0) >= 1);
  await waitFor("the node counts", () => tracker.status()[0]?.eligible);
});

test("a port that takes the handshake and never says a word costs nothing but the WebSocket", async (t) => {
  const node = await startStubNode(t, { chain, height: 10, webSocket: "stuck" });
  const limits = { handshakeTimeoutMs: 50, socketRetryMaxMs: 50 };
  const tracker = startTracker(t, { validators: [node], limits });
  await waitFor("it is tried again and again", () => node.handshakes() === 6);
  node.become({ height: 11 });
  t.ok(await tracker.waitFor(11n, 1000));
  t.ok(node.connections() <= 3, "connections that were given up are closed, though it does not close them");
  t.equal(tracker.said("no heads by WebSocket, polling").length, 1);
});

test("messages that are no heads, or too large, end the WebSocket and nothing else", async (t) => {
  const node = await startStubNode(t, { chain, height: 10 });
  const limits = { ...rareProbes, socketRetryMaxMs: 50, messageBytesMax: 100_000 };
  const tracker = startTracker(t, { validators: [node], limits });
  const junk = [
    "{",
    "[]",
    "null",
    '{"id":1}',
    '{"method":"eth_subscription","params":{"subscription":"0x5"}}',
  ];
  const badHead = { ...chain.block(12).block, number: "0x012" };
  junk.push(JSON.stringify({ method: "eth_subscription", params: { subscription: "0x5", result: badHead } }));
  junk.push(`"${"x".repeat(200_000)}"`);
  for (const [round, text] of junk.entries()) {
    await waitFor(`a subscription after ${text.slice(0, 20)}`, () => node.subscriptions() === round + 1);
    node.push(text);
  }
  await waitFor("a subscription at last", () => node.subscriptions() === junk.length + 1);
  await waitFor("the head", () => tracker.announced() !== undefined);
  t.equal(tracker.announced()?.number, 10n);
  t.equal(tracker.eligible(), "0");
});

test("a validator that dies and comes back counts again at once, by a new WebSocket", async (t) => {
  const nodes: StubNode[] = [];
  for (let index = 0; index < 3; index += 1) nodes.push(await startStubNode(t, { chain, height: 10 }));
  const tracker = startTracker(t, { validators: nodes });
  await waitFor("all count", () => tracker.eligible() === "012");
  const [first, ...others] = nodes;
  await first?.die();
  await waitFor("the dead one is out", () => tracker.eligible() === "12", { withinMs: 1000 });
  for (const node of others) node.mine();
  t.ok(await tracker.waitFor(11n, 1000));
  first?.become({ height: 11 });
  await first?.comeBack();
  await waitFor("it is back", () => tracker.eligible() === "012", { withinMs: 1500 });
  await waitFor("its WebSocket too", () => tracker.status()[0]?.wsReconnects === 1);
  t.same(tracker.epochs, []);
  t.same(
    tracker.heads.map(({ number }) => Number(number)),
    [10, 11],
  );
});

test("a validator that comes back on another chain is not believed for a moment", async (t) => {
  const foreign = createHeaderChain("foreign");
  for (const change of [{ chain: foreign, height: 12 }, { chainId: 1 }]) {
    const nodes: StubNode[] = [];
    for (let index = 0; index < 3; index += 1) nodes.push(await startStubNode(t, { chain, height: 10 }));
    const tracker = startTracker(t, { validators: nodes });
    await waitFor(
      "all",
      () => tracker.eligible() === "012" && nodes.every((node) => node.subscriptions() === 1),
    );
    const [first, ...others] = nodes;
    await first?.die();
    await waitFor("the dead one is out", () => tracker.eligible() === "12");
    first?.become(change);
    await first?.comeBack();
    await waitFor("its WebSocket is back", () => first?.subscriptions() === 2);
    first?.mine();
    first?.mine();
    for (const node of others) node.mine();
    t.ok(await tracker.waitFor(11n, 1000));
    await waitFor("it is found out", () => tracker.status()[0]?.identity === "foreign");
    t.equal(tracker.eligible(), "12");
    t.equal(tracker.heightOf("0"), undefined);
    t.ok(tracker.heads.every(({ number, hash }) => hash === chain.block(Number(number)).hash));
    t.equal(tracker.said("validator is of another chain, not counted").length, 1, "said once");
    first?.become({ chain, height: 11, chainId: 8845 });
    await waitFor("it is ours again", () => tracker.eligible() === "012");
    await tracker.stop();
  }
});

test("a validator that hangs is out, costs the others nothing and does not hold up the stop", async (t) => {
  const nodes: StubNode[] = [];
  for (let index = 0; index < 3; index += 1) nodes.push(await startStubNode(t, { chain, height: 10 }));
  const limits = { probeTimeoutMs: 200, handshakeTimeoutMs: 200 };
  const tracker = startTracker(t, { validators: nodes, limits });
  await waitFor("all count", () => tracker.eligible() === "012");
  const [first, ...others] = nodes;
  if (first !== undefined) first.faults.hangs = true;
  await waitFor("the one that hangs is out", () => tracker.eligible() === "12", { withinMs: 2000 });
  for (const node of others) node.mine();
  t.ok(await tracker.waitFor(11n, 400), "its word is not waited for");
  await tracker.stop();
  await waitFor("no connection is left, hung or not", () => nodes.every((node) => node.connections() === 0));
});

test("answers that are none put a validator out, and good ones bring it back", async (t) => {
  const bodies = ["", "{", "null", "[]", "[1,2,3]", '[{"id":0,"result":"0x228d"}]', '{"id":0,"result":null}'];
  bodies.push(JSON.stringify([0, 1, 2].map((id) => ({ id, result: "0x228d" }))));
  const node = await startStubNode(t, { chain, height: 10 });
  const other = await startStubNode(t, { chain, height: 10 });
  const tracker = startTracker(t, { validators: [node, other] });
  for (const body of bodies) {
    await waitFor("both count", () => tracker.eligible() === "01");
    node.faults.body = body;
    await waitFor(`it is out by ${body}`, () => tracker.eligible() === "1");
    const isUnreadable = body === bodies.at(-1);
    t.match(tracker.status()[0], { why: isUnreadable ? "its genesis block cannot be read" : "no answer" });
    node.faults.body = undefined;
  }
  t.equal(tracker.announced()?.number, 10n);
});

test("a validator that takes no arrays is asked call by call", async (t) => {
  const node = await startStubNode(t, { chain, height: 10, webSocket: "none" });
  node.faults.refusesArrays = true;
  const tracker = startTracker(t, { validators: [node] });
  await waitFor("the first head", () => tracker.announced()?.number === 10n);
  node.become({ height: 14 });
  t.ok(await tracker.waitFor(14n, 1000));
  t.equal(tracker.heads.length, 5);
});

test("who waits for a number is told when it is announced, or that it was not", async (t) => {
  const node = await startStubNode(t, { chain, height: 10 });
  const tracker = startTracker(t, { validators: [node], limits: { waitersMax: 3 } });
  t.ok(await tracker.waitFor(0n, 1000), "the first head is waited for like any other");
  t.ok(await tracker.waitFor(10n, 0), "what is announced needs no wait");
  t.notOk(await tracker.waitFor(11n, 50));
  const waiting = [tracker.waitFor(11n, 5000), tracker.waitFor(12n, 5000), tracker.waitFor(13n, 5000)];
  t.notOk(await tracker.waitFor(11n, 5000), "one too many is answered at once");
  node.mine(2);
  t.same(await Promise.all(waiting.slice(0, 2)), [true, true]);
  await tracker.stop();
  t.notOk(await waiting[2], "nobody is left waiting at the end");
  t.notOk(await tracker.waitFor(13n, 5000));
});

test("a listener that throws keeps no other from its heads", async (t) => {
  const node = await startStubNode(t, { chain, height: 10 });
  const tracker = startTracker(t, { validators: [node] });
  tracker.onHead(() => {
    throw new Error("a listener's fault");
  });
  const seen: bigint[] = [];
  const end = tracker.onHead(({ number }) => seen.push(number));
  t.ok(await tracker.waitFor(10n, 1000));
  node.mine();
  t.ok(await tracker.waitFor(11n, 1000));
  end();
  node.mine();
  t.ok(await tracker.waitFor(12n, 1000));
  t.same(seen, [10n, 11n]);
  t.equal(tracker.said("a listener to heads failed").length, 3);
});

test("a chain that stands still is flagged while its validators answer, and reads go on", async (t) => {
  const node = await startStubNode(t, { chain, height: 10 });
  const tracker = startTracker(t, { validators: [node], limits: { stalledAfterMs: 300 } });
  t.ok(await tracker.waitFor(10n, 1000));
  t.notOk(tracker.isStalled());
  await waitFor("stalled", () => tracker.isStalled());
  t.equal(tracker.eligible(), "0");
  await waitFor("the log says it", () => tracker.said("the chain stands still").length === 1);
  node.mine();
  t.ok(await tracker.waitFor(11n, 1000));
  t.notOk(tracker.isStalled());
  t.equal(tracker.said("the chain goes on").length, 1);
});
