import { createHash } from "node:crypto";
import { connect } from "node:net";
import { Pool } from "undici";
import { createApiKey } from "../../../lib/keys/api-key.ts";
import { type Attack, drawn, holdConnections, inLoops, scaled } from "./attack.ts";

const bodyBytes = 1024 * 1024;

function head(lines: readonly string[]): string {
  return `${["POST / HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", ...lines].join("\r\n")}\r\n\r\n`;
}

/** Requests whose bodies never come, from many addresses: without a key, with an unknown one, with a mistyped one. */
const halfSentRequests: Attack = (context) =>
  holdConnections(scaled(10_100, context), context, (socket) => {
    const keys = ["", `X-API-Key: ${createApiKey({ profile: "development" })}`, "X-API-Key: tg_dev_mistyped"];
    const lines = [drawn(keys, context.random), "Content-Length: 100"].filter((line) => line !== "");
    socket.write(head(lines));
  });

/** Bodies of 1 MiB whose last byte never comes. */
const unfinishedBodies: Attack = (context) => {
  const body = Buffer.alloc(bodyBytes - 1, "[");
  return holdConnections(scaled(1500, context), context, (socket) => {
    socket.write(head([`Content-Length: ${bodyBytes}`]));
    socket.write(body);
  });
};

/** Half a request head, then one more byte now and then (slowloris). */
const slowHeads: Attack = (context) =>
  holdConnections(scaled(2000, context), context, (socket) => {
    socket.write("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-");
    const timer = setInterval(() => socket.write("a"), 1000);
    socket.once("close", () => clearInterval(timer));
  });

/** Unknown keys with a right checksum: the gateway has to look each of them up. */
const unknownKeys: Attack = async (context) => {
  const [localAddress] = context.addresses;
  const from = localAddress === undefined ? {} : { localAddress };
  const pools = context.gateways.map(({ url }) => new Pool(url, { connections: 20, connect: from }));
  await inLoops(scaled(60, context), context, async (loop) => {
    const pool = pools[loop % pools.length];
    if (pool === undefined) return;
    const { statusCode, body } = await pool.request({
      method: "POST",
      path: "/",
      headers: {
        "content-type": "application/json",
        "x-api-key": createApiKey({ profile: "development" }),
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}',
    });
    await body.dump();
    context.count(`status ${statusCode}`);
  });
  await Promise.all(pools.map((pool) => pool.destroy()));
};

const heads = [
  "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
  "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}",
  `${head(["Transfer-Encoding: chunked"])}5\r\nabcde\r\n0\r\n\r\n`,
  `${head(["Transfer-Encoding: chunked"])}g\r\n`,
  `${head(["Content-Length: 2"])}{}${head(["Content-Length: 2"])}{}`,
  "\r\n\r\n",
  `GET /${"a".repeat(5000)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
  "OPTIONS / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://example\r\nAccess-Control-Request-Method: POST\r\n\r\n",
];

/** Requests of every kind with bytes changed at random. */
const brokenRequests: Attack = async (context) => {
  await inLoops(scaled(100, context), context, async () => {
    const bytes = Buffer.from(drawn(heads, context.random), "latin1");
    const changes = Math.floor(context.random() * 4);
    for (let change = 0; change < changes; change += 1) {
      bytes[Math.floor(context.random() * bytes.length)] = Math.floor(context.random() * 256);
    }
    const { host, port } = drawn(context.gateways, context.random);
    const localAddress = drawn(context.addresses, context.random);
    await new Promise<void>((resolve) => {
      const socket = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) });
      const timer = setTimeout(() => socket.destroy(), 500);
      socket.on("error", () => {});
      socket.on("data", () => socket.end());
      socket.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
      socket.write(bytes);
    });
    context.count("sent");
  });
};

/** Sockets that open and close as fast as they can. */
const connectAndLeave: Attack = async (context) => {
  await inLoops(scaled(50, context), context, async () => {
    const { host, port } = drawn(context.gateways, context.random);
    const localAddress = drawn(context.addresses, context.random);
    await new Promise<void>((resolve) => {
      const socket = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) });
      socket.on("error", () => {});
      socket.on("close", () => resolve());
      socket.on("connect", () => socket.resetAndDestroy());
    });
    context.count("connected");
  });
};

/** Upgrades with an unknown key, in the header and in the URL. */
const unknownUpgrades: Attack = async (context) => {
  await inLoops(scaled(50, context), context, async () => {
    const { host, port } = drawn(context.gateways, context.random);
    const localAddress = drawn(context.addresses, context.random);
    const key = createApiKey({ profile: "development" });
    const nonce = createHash("sha1").update(key).digest().subarray(0, 16).toString("base64");
    await new Promise<void>((resolve) => {
      const socket = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) });
      socket.on("error", () => {});
      socket.on("close", () => resolve());
      socket.on("data", () => socket.destroy());
      socket.setTimeout(2000, () => socket.destroy());
      socket.write(
        `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n` +
          `Sec-WebSocket-Key: ${nonce}\r\nSec-WebSocket-Protocol: tollgate.v1, api-key.${key}\r\n\r\n`,
      );
    });
    context.count("asked");
  });
};

export const attacksWithoutKey: Readonly<Record<string, Attack>> = {
  halfSentRequests,
  unfinishedBodies,
  slowHeads,
  unknownKeys,
  brokenRequests,
  connectAndLeave,
  unknownUpgrades,
};
