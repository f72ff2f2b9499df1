import type { ServerResponse } from "node:http";

export type LiveClient = { response: ServerResponse; address: string };

/** A client that does not read is let go with so much before it: it would hold the memory of every block to come. */
const unreadBytesMax = 64 * 1024;
const endWithinMs = 1000;

/** Who listens: bounded in all, by address and by what a client leaves unread. */
export function createLiveClients<Client extends LiveClient>(bounds: {
  /** Read for each that comes; whoever is there stays. */
  readonly clientsMax: number;
  readonly perAddressMax: number;
}) {
  const clients = new Set<Client>();
  const perAddress = new Map<string, number>();

  function remove(client: Client): void {
    if (!clients.delete(client)) return;
    const left = (perAddress.get(client.address) ?? 1) - 1;
    if (left === 0) perAddress.delete(client.address);
    else perAddress.set(client.address, left);
  }

  return {
    /** Whether there is room for one more of this address. */
    room(address: string): "free" | "full" | "too many" {
      if (clients.size >= bounds.clientsMax) return "full";
      return (perAddress.get(address) ?? 0) >= bounds.perAddressMax ? "too many" : "free";
    },

    /** A client stays until its connection closes; false where it has gone while it was being let in. */
    add(client: Client): boolean {
      const { response } = client;
      if (response.destroyed || response.socket?.destroyed !== false) {
        // No event tells of it any more.
        response.destroy();
        return false;
      }
      clients.add(client);
      perAddress.set(client.address, (perAddress.get(client.address) ?? 0) + 1);
      response.once("close", () => remove(client));
      response.on("error", () => remove(client));
      return true;
    },

    write(client: Client, text: string): void {
      if (text === "") return;
      if (client.response.writableLength <= unreadBytesMax) return void client.response.write(text);
      remove(client);
      client.response.destroy();
    },

    /** Ends one; where it does not read, it is cut off. */
    finish(client: Client): void {
      remove(client);
      finishAll([client.response]);
    },

    /** Those that listen. One may go while they are walked through. */
    all: (): Iterable<Client> => clients,
    count: () => clients.size,

    /** Ends all; one that does not read is cut off. */
    end(): void {
      finishAll([...clients].map(({ response }) => response));
    },
  };
}

function finishAll(responses: readonly ServerResponse[]): void {
  // The connection as well: it would be kept open for a next request.
  for (const response of responses) {
    // By the time that all is written, the response has let go of it.
    const { socket } = response;
    response.end(() => socket?.destroySoon());
  }
  setTimeout(() => {
    for (const response of responses) response.destroy();
  }, endWithinMs).unref();
}
