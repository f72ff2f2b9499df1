import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Below the ports of outgoing connections (Linux from 32768, macOS from 49152), so that a restarted server finds its
 * port free.
 */
const [portMin, portMax] = [20_000, 26_000];
const triesMax = 100;

/**
 * A loopback port that was free a moment ago. Another process may take it meanwhile, so the caller has to be ready to
 * find it taken and to ask again.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const port = portMin + Math.floor(Math.random() * (portMax - portMin));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port was found between ${portMin} and ${portMax} in ${triesMax} tries`);
}

/** Whether nobody listens on a loopback port at the moment. */
export async function isFree(port: number): Promise<boolean> {
  const server = await listenAlone(port);
  if (server === undefined) return false;
  server.close();
  await once(server, "close");
  return true;
}

/** Listens on a loopback port, and shares it with nobody; undefined where it is taken. */
export async function listenAlone(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.listen({ port, host: "127.0.0.1", exclusive: true });
  try {
    await once(server, "listening");
    return server;
  } catch {
    return undefined;
  }
}
