import type { ServerResponse } from "node:http";
import type { BlockRecord } from "../records/block.ts";

export type LiveFeed = {
  /** Whether one more client of this address is taken. */
  standing(address: string): "free" | "full" | "too many";
  /** Takes a client in, whose head was written. `lastEventId`: what it has seen. */
  add(client: { response: ServerResponse; address: string; lastEventId: string | undefined }): void;
  /** A new head. */
  announce(epoch: number, block: BlockRecord): void;
  clients(): number;
  stop(): void;
};

type Client = { response: ServerResponse; address: string };

/** A client that has gone without reading this much is let go: it would hold the memory of every block to come. */
const unreadBytesMax = 256 * 1024;
const retryMs = 2000;

/**
 * Server-sent events (WHATWG HTML 9.2) of new blocks. A block's text is made once and written to all. A client that comes
 * back with `Last-Event-ID` gets what it missed, or `reset` where that is too much or of another chain.
 */
export function createLiveFeed({
  clientsMax,
  perAddressMax,
  replayMax,
  heartbeatMs,
}: {
  clientsMax: number;
  perAddressMax: number;
  /** So many of the newest blocks are kept for clients that come back. */
  replayMax: number;
  heartbeatMs: number;
}): LiveFeed {
  const clients = new Set<Client>();
  const perAddress = new Map<string, number>();
  const recent: { epoch: number; number: number; text: string }[] = [];

  function write(client: Client, text: string): void {
    if (client.response.writableLength > unreadBytesMax) return void client.response.destroy();
    client.response.write(text);
  }

  function remove(client: Client): void {
    if (!clients.delete(client)) return;
    const left = (perAddress.get(client.address) ?? 1) - 1;
    if (left === 0) perAddress.delete(client.address);
    else perAddress.set(client.address, left);
  }

  function missed(lastEventId: string): string {
    const [epoch, number] = lastEventId.split(".").map(Number);
    const newest = recent.at(-1);
    if (newest === undefined) return "";
    if (newest.epoch === epoch && newest.number === number) return "";
    const at = recent.findIndex((event) => event.epoch === epoch && event.number === number);
    const isWhole = at !== -1 && recent.slice(at).every((event) => event.epoch === epoch);
    if (!isWhole) return `event: reset\nid: ${newest.epoch}.${newest.number}\ndata: {}\n\n`;
    return recent
      .slice(at + 1)
      .map(({ text }) => text)
      .join("");
  }

  const heartbeat = setInterval(() => {
    for (const client of clients) write(client, ": still here\n\n");
  }, heartbeatMs);
  heartbeat.unref();

  return {
    standing(address) {
      if (clients.size >= clientsMax) return "full";
      return (perAddress.get(address) ?? 0) >= perAddressMax ? "too many" : "free";
    },
    add({ response, address, lastEventId }) {
      const client = { response, address };
      clients.add(client);
      perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
      response.once("close", () => remove(client));
      const missing = lastEventId === undefined ? "" : missed(lastEventId);
      write(client, `retry: ${retryMs}\n\n${missing}`);
    },
    announce(epoch, block) {
      const { number, hash, timestamp, timestampUnix, proposer, gasUsed, transactionCount } = block;
      const data = JSON.stringify({
        number,
        hash,
        timestamp,
        timestampUnix,
        proposer,
        gasUsed,
        transactionCount,
      });
      const text = `event: block\nid: ${epoch}.${number}\ndata: ${data}\n\n`;
      recent.push({ epoch, number, text });
      if (recent.length > replayMax) recent.shift();
      for (const client of clients) write(client, text);
    },
    clients: () => clients.size,
    stop() {
      clearInterval(heartbeat);
      for (const { response } of clients) response.end();
    },
  };
}
