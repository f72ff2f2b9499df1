import type { Logger } from "pino";
import type { HeadLimits } from "./head-limits.ts";
import { createHeadsSocket } from "./heads-socket.ts";
import type { Header } from "./read-header.ts";

/**
 * The heads that a validator's WebSocket brings. They count only after a probe that was sent while the WebSocket was open:
 * each connection may be to another node.
 */
export function createConfirmedHeads({
  label,
  wsAddresses,
  limits,
  logger,
  monotonicMs,
  random,
  onHeader,
  onChanged,
}: {
  label: string;
  wsAddresses: readonly string[];
  limits: HeadLimits;
  logger: Pick<Logger, "info" | "warn">;
  monotonicMs: () => number;
  random: () => number;
  onHeader: (header: Header) => void;
  /** A subscription has begun or ended: another node may be there. */
  onChanged: () => void;
}) {
  let confirmedAtMs = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let lastReason: string | undefined;
  let wsHost: string | undefined;
  let polled: { hash: string; newSinceMs: number } | undefined;

  const socket = createHeadsSocket({
    addresses: wsAddresses,
    limits,
    monotonicMs,
    random,
    onSubscribed(address) {
      wsHost = new URL(address).host;
      if (socket.reconnects() === 0) sayHeads();
      onChanged();
    },
    onHeader(header) {
      if (!isConfirmed()) return;
      sayHeads();
      onHeader(header);
    },
    onEnded(reason) {
      say(reason, () => logger.warn({ validator: label, reason }, "no heads by WebSocket, polling"));
      onChanged();
    },
  });

  function isConfirmed(): boolean {
    const liveSinceMs = socket.liveSinceMs();
    return liveSinceMs !== undefined && confirmedAtMs >= liveSinceMs;
  }

  function bring(): boolean {
    if (!isConfirmed()) return false;
    const lastMs = Math.max(socket.lastHeadAtMs() ?? 0, socket.liveSinceMs() ?? 0);
    return monotonicMs() - lastMs < limits.socketSilentMs;
  }

  // A new subscription is logged only when it has brought a head.
  function sayHeads(): void {
    say("heads", () => logger.info({ validator: label, address: wsHost }, "heads by WebSocket"));
  }

  function say(reason: string, line: () => void): void {
    if (reason !== lastReason && !stopped) line();
    lastReason = reason;
  }

  return {
    /** Whether they come, and count. */
    bring,
    reconnects: () => socket.reconnects(),
    /** A probe that was sent at this time has said who the validator is. */
    confirm(sentAtMs: number): void {
      confirmedAtMs = sentAtMs;
    },
    /** Renews a subscription that brings nothing while the chain goes on. */
    dropIfDeaf(latest: Header): void {
      const nowMs = monotonicMs();
      if (polled?.hash !== latest.hash) polled = { hash: latest.hash, newSinceMs: nowMs };
      const liveSinceMs = socket.liveSinceMs();
      if (liveSinceMs === undefined || bring()) return;
      const heardMs = Math.max(socket.lastHeadAtMs() ?? 0, liveSinceMs);
      if (polled.newSinceMs > heardMs + limits.socketSilentMs) socket.drop("silent");
    },
    stop(): void {
      stopped = true;
      socket.stop();
    },
  };
}
