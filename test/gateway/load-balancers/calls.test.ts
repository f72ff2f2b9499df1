import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { Agent } from "node:https";
import t from "tap";
import WebSocket from "ws";
import { chainIdCall, post } from "../../helpers/bad-input.ts";
import { coreKey } from "../../helpers/gateway.ts";
import { type Asked, ask, badKeysMax, behindEach, converse, scarceCalls, scarceKey } from "./rig.ts";

/* What passes through the balancers of docker/load-balancers/, each before two gateways. */

behindEach(t, async (t, { port, ca, anvilUrl, gateways, balancer }) => {
  const from = (localAddress: string, more: Omit<Asked, "port" | "ca" | "localAddress">) =>
    ask({ port, ca, localAddress, ...more });

  t.test("calls and batches are answered, over one kept connection", async (t) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    for (let id = 1; id <= 5; id += 1) {
      const { status, text } = await from("127.0.0.2", {
        body: { jsonrpc: "2.0", id, method: "eth_chainId" },
        agent,
      });
      t.equal(status, 200);
      t.equal(text, `{"jsonrpc":"2.0","id":${id},"result":"0x228d"}`);
    }
    const calls = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: "2.0", id, method: "eth_chainId" }));
    const { text } = await from("127.0.0.2", { body: calls, agent });
    t.match(JSON.parse(text), { length: 100 });
  });

  t.test("a body of a mebibyte passes, and the gateway itself refuses a longer one", async (t) => {
    const call = (chars: number) => ({
      jsonrpc: "2.0",
      id: 1,
      method: "web3_sha3",
      params: [`0x${"a".repeat(chars)}`],
    });
    t.match(await from("127.0.0.2", { body: call(1_000_000) }), { status: 200, text: /"result":"0x/ });
    t.match(await from("127.0.0.2", { body: call(1_100_000) }), { status: 413, text: /body_too_large/ });
  });

  t.test("HTTP/2 is spoken to clients, also without a length of the body", async (t) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
    t.teardown(() => session.destroy());
    for (const length of [{ "content-length": String(chainIdCall.length) }, {}]) {
      const stream = session.request({
        ":method": "POST",
        ":path": "/",
        "content-type": "application/json",
        "x-api-key": coreKey,
        ...length,
      });
      stream.end(chainIdCall);
      let text = "";
      for await (const piece of stream.setEncoding("utf8")) text += piece;
      t.equal(text, '{"jsonrpc":"2.0","id":7,"result":"0x228d"}');
    }
  });

  t.test("HTTP/1.0 is served, or told what to ask with", async (t) => {
    const old = post(chainIdCall).replace("HTTP/1.1", "HTTP/1.0");
    t.match(await converse(t, { port, ca, sent: old }), balancer.saysToHttp10);
  });

  t.test("a WebSocket is told of new blocks", async (t) => {
    const socket = new WebSocket(`wss://127.0.0.1:${port}/`, ["tollgate.v1", `api-key.${coreKey}`], { ca });
    t.teardown(() => socket.terminate());
    await once(socket, "open");
    t.equal(socket.protocol, "tollgate.v1");
    const messages: string[] = [];
    const arrived = (pattern: RegExp) =>
      new Promise<string>((resolve) => {
        const look = () => {
          const found = messages.find((message) => pattern.test(message));
          if (found !== undefined) resolve(found);
        };
        socket.on("message", look);
        look();
      });
    socket.on("message", (data) => messages.push(String(data)));
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
    t.match(await arrived(/"id":1/), /"result":"0x/);
    const mined = { jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] };
    const headers = { "Content-Type": "application/json" };
    await (await fetch(anvilUrl, { method: "POST", headers, body: JSON.stringify(mined) })).text();
    t.match(await arrived(/eth_subscription/), /"number":"0x/);
    socket.close();
    await once(socket, "close");
  });

  t.test("clients are told apart by their own addresses, whatever they write themselves", async (t) => {
    const body = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
    const badly = (address: string, forwardedFor?: string) =>
      from(address, {
        body,
        key: "an-unknown-key-of-somebody",
        ...(forwardedFor === undefined ? {} : { headers: { "X-Forwarded-For": forwardedFor } }),
      });
    const statuses: (number | undefined)[] = [];
    // A gateway that did not see the last of them hears of it with the next.
    for (let count = 0; count < 4 * badKeysMax; count += 1) statuses.push((await badly("127.0.0.3")).status);
    const tried = statuses.filter((status) => status === 401).length;
    t.ok(tried >= badKeysMax && tried < badKeysMax + gateways.length, `${tried} were looked up`);
    t.same(statuses.slice(-badKeysMax), [429, 429, 429], "this address has tried enough");
    t.match(await badly("127.0.0.3", "192.0.2.1"), { status: 429 }, "inventing another does not help");
    t.match(await badly("127.0.0.4"), { status: 401 }, "another's is another's");
  });

  t.test("what is no HTTP is answered at once, and not by the gateway's library", async (t) => {
    const heads = ["GET / HTTP/1.1\r\nHo st: a\r\n\r\n", "nonsense\r\n\r\n"];
    for (const head of heads) {
      const text = await converse(t, { port, ca, sent: head });
      t.match(text, /^HTTP\/1\.[01] 400 |^<html>[\s\S]*400/);
      t.notMatch(text, /uWebSockets/);
    }
  });

  t.test("one key has its limit exactly, over both gateways", async (t) => {
    const before = await Promise.all(gateways.map((gateway) => gateway.answered()));
    const body = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
    const answers = await Promise.all(
      Array.from({ length: 2 * scarceCalls }, () => from("127.0.0.2", { body, key: scarceKey })),
    );
    t.equal(answers.filter(({ status }) => status === 200).length, scarceCalls);
    t.equal(answers.filter(({ status }) => status === 429).length, scarceCalls);
    const after = await Promise.all(gateways.map((gateway) => gateway.answered()));
    for (const [index, count] of after.entries())
      t.ok(count > (before[index] ?? 0), `gateway ${index + 1} has answered some`);
  });

  t.test("a filter is made at one gateway and polled at any", async (t) => {
    const call = async (method: string, params: unknown[]) => {
      const { status, text } = await from("127.0.0.2", { body: { jsonrpc: "2.0", id: 1, method, params } });
      t.equal(status, 200, text);
      return JSON.parse(text);
    };
    const before = await Promise.all(gateways.map((gateway) => gateway.answered()));
    const { result: filter } = await call("eth_newBlockFilter", []);
    const headers = { "Content-Type": "application/json" };
    await (await fetch(anvilUrl, { method: "POST", headers, body: JSON.stringify({ ...mine }) })).text();
    const told: string[] = [];
    for (let polls = 0; polls < 100 && (told.length === 0 || polls < 10); polls += 1) {
      const answer = await call("eth_getFilterChanges", [filter]);
      t.equal(answer.error, undefined);
      told.push(...(answer.result ?? []));
    }
    t.equal(told.length, 1, "the block is told once, whichever gateway was polled");
    const after = await Promise.all(gateways.map((gateway) => gateway.answered()));
    for (const [index, count] of after.entries())
      t.ok(count > (before[index] ?? 0), `gateway ${index + 1} was polled`);
  });

  t.test("a client that does not finish its head is let go", async (t) => {
    const beganMs = performance.now();
    await converse(t, { port, ca, sent: "POST / HTTP/1.1\r\nHost: a\r\nX-Slow: " });
    t.ok(performance.now() - beganMs < 60_000);
  });
});

const mine = { jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] };
