import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Below the ports that systems give to outgoing connections (Linux from 32768, macOS from 49152), so that a server that
 * is started again finds its port as it left it.
 */
const [portMin, portMax] = [20_000, 26_000];
const triesMax = 100;

/**
 * A loopback port that was free a moment ago. Another process may take it meanwhile, so whoever uses it must be ready
 * to find it taken and ask again.
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
