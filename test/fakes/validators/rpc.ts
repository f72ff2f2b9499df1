import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Wallet } from "ethers";
import { request } from "undici";
import { WebSocket } from "ws";
import { isObject, type JsonObject } from "./json.ts";
import { chainId } from "./shared-chain.ts";

/** Asks a node directly, as a test does that looks behind the gateway: on a connection of its own, kept by no one. */
export async function post(url: string, body: string, extraHeaders: Record<string, string> = {}) {
  const headers = { "content-type": "application/json", ...extraHeaders };
  const response = await request(url, { method: "POST", headers, body, reset: true });
  return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
}

/** One call: its answer, without `jsonrpc` and `id`. */
export async function ask(url: string, method: string, params: unknown[] = []): Promise<JsonObject> {
  const { text } = await post(url, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  const { jsonrpc: _version, id: _id, ...rest } = readObject(text);
  return rest;
}

/** One call whose result is an object: a block, a receipt. */
export async function askObject(url: string, method: string, params: unknown[]): Promise<JsonObject> {
  const { result } = await ask(url, method, params);
  if (!isObject(result)) throw new Error(`${method} gave no object`);
  return result;
}

export function readObject(text: string): JsonObject {
  const read: unknown = JSON.parse(text);
  if (!isObject(read)) throw new Error(`not an object: ${text}`);
  return read;
}

/** A WebSocket that hears new heads; its acknowledgement is taken already. */
export async function openHeads(url: string) {
  const socket = await openSocket(url);
  socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
  await socket.next();
  return socket;
}

/** The block in a notification of `newHeads`. */
export function readHead(frame: string): JsonObject {
  const { params } = readObject(frame);
  const head = isObject(params) ? params["result"] : undefined;
  if (!isObject(head)) throw new Error(`not a head: ${frame}`);
  return head;
}

/** A WebSocket whose frames are taken one after the other, as text. */
export async function openSocket(url: string) {
  const socket = new WebSocket(url);
  const frames: string[] = [];
  const arrivals = new EventEmitter();
  socket.on("message", (data) => {
    frames.push(data.toString());
    arrivals.emit("frame");
  });
  socket.on("error", () => {});
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await once(socket, "open");

  return {
    socket,
    /** What arrived and was not taken. */
    frames,
    closed,
    send: (message: string) => socket.send(message),
    /** The next frame; rejects when none came in time. */
    async next(withinMs = 2_000): Promise<string> {
      if (frames.length === 0) await once(arrivals, "frame", { signal: AbortSignal.timeout(withinMs) });
      return frames.shift() ?? "";
    },
    close(): Promise<number> {
      socket.close();
      return closed;
    },
  };
}

// The first three of the public development accounts, which anvil and the recorded genesis give tokens to.
const developmentKeys = [
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
];

export function developmentWallet(index: 0 | 1 | 2): Wallet {
  return new Wallet(developmentKeys[index] ?? "");
}

export type TransferChanges = {
  chainId?: number;
  gasPrice?: bigint;
  gasLimit?: number;
  value?: bigint;
  to?: string | null;
  data?: string;
};

/** A signed legacy transaction at price 0: a transfer of 1 wei to oneself unless told otherwise. */
export function signed(wallet: Wallet, nonce: number, changes: TransferChanges = {}): Promise<string> {
  const transfer = { chainId, to: wallet.address, value: 1n, gasLimit: 100_000, gasPrice: 0n };
  return wallet.signTransaction({ type: 0, nonce, ...transfer, ...changes });
}

/** Resolves to "pending" where the promise takes longer than the answer of a healthy validator ever does. */
export async function within<Value>(promise: Promise<Value>, ms = 80): Promise<Value | "pending"> {
  return await Promise.race([promise, sleep(ms, "pending" as const)]);
}
