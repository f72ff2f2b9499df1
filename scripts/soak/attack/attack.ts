import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What the attacker's thread needs to know. */
export type AttackTask = {
  name: string;
  seed: number;
  durationMs: number;
  scale: number;
  gateways: readonly { host: string; port: number; url: string }[];
  /** A key that may do everything but claim. */
  key: string;
  addresses: readonly (string | undefined)[];
};

/** What one attack may use. The attack ends by itself soon after `isOver` and counts its outcomes. */
export type AttackContext = Omit<AttackTask, "seed"> & {
  random: () => number;
  isOver: () => boolean;
  leftMs: () => number;
  count: (what: string) => void;
};

export type Attack = (context: AttackContext) => Promise<void>;

/** Draws one item of a list at random. */
export function drawn<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("the list is empty");
  return item;
}

/** `count` times the scale, at least one. */
export function scaled(count: number, { scale }: AttackContext): number {
  return Math.max(1, Math.round(count * scale));
}

/** Runs `count` loops at once until the attack is over. A turn that fails is one of its outcomes. */
export async function inLoops(
  count: number,
  context: AttackContext,
  turn: (loop: number) => Promise<unknown>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, loop) => {
      while (!context.isOver()) {
        try {
          await turn(loop);
        } catch {
          context.count("failed");
          // A refused attacker comes back after a pause, so that its own loop is not what it measures.
          await sleep(20);
        }
      }
    }),
  );
}

/**
 * Keeps `count` connections open that have sent `bytes` and read nothing. It replaces closed ones, at most 200 a
 * second.
 */
export async function holdConnections(
  count: number,
  context: AttackContext,
  send: (socket: Socket) => void,
): Promise<void> {
  const open = new Set<Socket>();
  const target = drawn(context.gateways, context.random);
  const reopenedAtOnce = 20;
  while (!context.isOver()) {
    const isFirst = open.size === 0;
    const missing = Math.min(count - open.size, isFirst ? count : reopenedAtOnce);
    for (let index = 0; index < missing; index += 1) {
      const localAddress = drawn(context.addresses, context.random);
      const socket = connect({
        host: target.host,
        port: target.port,
        ...(localAddress === undefined ? {} : { localAddress }),
      });
      open.add(socket);
      socket.on("error", () => context.count("broken"));
      socket.on("close", () => {
        open.delete(socket);
        context.count("closed");
      });
      socket.on("connect", () => {
        context.count("connected");
        send(socket);
      });
      socket.pause();
    }
    await sleep(100);
  }
  for (const socket of open) socket.destroy();
}
