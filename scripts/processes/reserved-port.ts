import { isFree, listenAlone } from "./free-port.ts";

/**
 * Above what free-port.ts gives to programs under test, below the ports of outgoing connections (Linux from 32768).
 * Nobody else takes a port between the moment it is chosen and the moment its server listens (many seconds where
 * `npm start` brings up everything), nor while a server is down and starts again.
 */
const [portMin, portMax] = [26_000, 32_000];
const blockSize = 100;

let current: Promise<PortBlock> | undefined;

/** A free loopback port that no other caller gets, in any process. */
export async function reservePort(): Promise<number> {
  for (;;) {
    current ??= claimPortBlock({ from: portMin, to: portMax });
    const claimed = current;
    const block = await claimed;
    const port = block.next;
    block.next += 1;
    if (port < block.end) {
      if (await isFree(port)) return port;
    } else if (current === claimed) current = undefined;
  }
}

/** Ports of this process while it lives: those after `base`, on which it listens, and before `end`. */
export type PortBlock = { readonly base: number; next: number; readonly end: number };

/**
 * Claims ports from a multiple of a hundred on, by listening on the first of them: the system ends that with the process,
 * however it ends, so nothing is ever left behind.
 */
export async function claimPortBlock({ from, to }: { from: number; to: number }): Promise<PortBlock> {
  const count = Math.floor((to - from) / blockSize);
  const first = Math.floor(Math.random() * count);
  for (let step = 0; step < count; step += 1) {
    const base = from + blockSize * ((first + step) % count);
    const claim = await listenAlone(base);
    if (claim === undefined) continue;
    claim.unref();
    return { base, next: base + 1, end: base + blockSize };
  }
  throw new Error(`each block of ports between ${from} and ${to} is taken`);
}
