import type { Server } from "node:http";
import { Server as NetServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/**
 * Has a server take no more connections, and answer on those that are open, each with its last answer, until their clients
 * have closed them, for `idleMs` at most. `Server.close` of node:http would cut idle ones at once, into which a client may
 * be writing its next request.
 */
export async function drainServer(server: Server, { idleMs }: { idleMs: number }): Promise<void> {
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  await Promise.race([closed, wait(idleMs, undefined, { ref: false })]);
}
