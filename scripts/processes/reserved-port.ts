import { isFree, listenAlone } from "./free-port.ts";

/**
 * Above the ports of free-port.ts, below the ports of outgoing connections (Linux from 32768). So nobody takes a port
 * between its choice and its server's start (many seconds in `npm start`), nor while its server restarts.
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
 * Claims a block of a hundred ports by listening on the first of them. The system closes that listener with the
 * process, however it ends, so no claim is left behind.
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
