import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { RpcBlock } from "../chain/rpc-records.ts";
import { createLiveClients, type LiveClient } from "./live-clients.ts";
import { createRecentBlocks, eventText, type LiveBlock } from "./recent-blocks.ts";

export type LiveFeed = {
  /** Whether one more client of this address is taken. */
  standing(address: string): "free" | "full" | "too many" | "stopping";
  /** Takes a client in, whose head was written. `lastEventId`: what it has seen. */
  add(client: { response: ServerResponse; address: string; lastEventId: string | undefined }): void;
  /** A new head. */
  announce(block: RpcBlock): void;
  clients(): number;
  /** Ends all; one that does not read is cut off. */
  stop(): void;
};

type Seen = { number: number; hash: string };
/** `seen` is there until what the client missed is known: from then on it is told of each block. */
type Client = LiveClient & { seen: Seen | undefined; beats: number };

const reconnectMs = 2000;
/** How many heartbeats a client waits whose block this process has not seen: it may come from one that is ahead. */
const beatsToWait = 2;

/**
 * Server-sent events (WHATWG HTML 9.2) of new blocks. A block's text is made once and written to all. A client that comes
 * back with `Last-Event-ID` gets what it missed, from whichever process it was, or `reset` where that is too much or of
 * another chain: then it reads anew what it shows.
 */
export function createLiveFeed({
  reader,
  settings,
  logger,
}: {
  reader: Pick<ChainReader, "block">;
  settings: {
    /** Read for each client. */
    readonly clientsMax: number;
    readonly perAddressMax: number;
    /** So many of the newest blocks are kept for clients that come back. */
    readonly replayMax: number;
    readonly heartbeatMs: number;
  };
  logger: Pick<Logger, "warn">;
}): LiveFeed {
  const clients = createLiveClients<Client>(settings);
  const { replayMax, heartbeatMs } = settings;
  const { write } = clients;
  let isStopped = false;

  const recent = createRecentBlocks({
    reader,
    blocksMax: replayMax + 1,
    onBlock(block) {
      for (const client of clients.all()) {
        if (client.seen === undefined) write(client, block.text);
        else catchUp(client);
      }
    },
    onReset() {
      for (const client of clients.all()) reset(client);
    },
    logger,
  });

  /** Gives a client what it missed, once that is known. */
  function catchUp(client: Client): void {
    const newest = recent.newest();
    if (client.seen === undefined || newest === undefined) return;
    const missed = recent.after(client.seen.hash);
    if (missed !== undefined) {
      client.seen = undefined;
      write(client, missed.map(({ text }) => text).join(""));
    } else if (!isAhead(client.seen, newest)) reset(client);
  }

  /** Whether a client may have its block from a process that is ahead of this one. */
  function isAhead(seen: Seen, newest: LiveBlock): boolean {
    return seen.number > newest.number && seen.number - newest.number <= replayMax;
  }

  function reset(client: Client): void {
    const newest = recent.newest();
    client.seen = undefined;
    write(client, eventText({ name: "reset", block: newest, data: {} }));
  }

  const heartbeat = setInterval(() => {
    for (const client of clients.all()) {
      client.beats += 1;
      if (client.seen !== undefined && client.beats >= beatsToWait) reset(client);
      write(client, ": still here\n\n");
    }
  }, heartbeatMs);
  heartbeat.unref();

  return {
    standing(address) {
      return isStopped ? "stopping" : clients.room(address);
    },
    add({ response, address, lastEventId }) {
      const seen = lastEventId === undefined ? undefined : readEventId(lastEventId);
      const client: Client = { response, address, seen: seen === "unknown" ? undefined : seen, beats: 0 };
      if (!clients.add(client)) return;
      write(client, `retry: ${reconnectMs}\n\n`);
      if (seen === "unknown") reset(client);
      else catchUp(client);
    },
    announce: (block) => recent.add(block),
    clients: clients.count,
    stop() {
      isStopped = true;
      recent.stop();
      clearInterval(heartbeat);
      clients.end();
    },
  };
}

function readEventId(text: string): Seen | "unknown" {
  const [, number, hash] = /^(\d{1,15})\.(0x[0-9a-f]{64})$/.exec(text) ?? [];
  return number === undefined || hash === undefined ? "unknown" : { number: Number(number), hash };
}
