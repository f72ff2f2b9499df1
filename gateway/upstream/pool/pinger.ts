import type { Connection, ConnectionEvents, FailureReason, UpstreamRequest } from "./connection.ts";
import { cutLone } from "./cut-answers.ts";
import { cutLoneCarefully } from "./cut-carefully.ts";

export type Pinger = ReturnType<typeof createPinger>;

const pingBody = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';

/** Pings a validator with the cheapest call, on a connection of its own: does it answer at all? One ping at a time. */
export function createPinger({
  open,
  timeoutMs,
  onPinged,
  now,
}: {
  open: (events: ConnectionEvents) => Connection;
  timeoutMs: number;
  /** `failure` undefined: the ping was answered. */
  onPinged: (failure: FailureReason | undefined) => void;
  now: () => number;
}) {
  let connection: Connection | undefined;
  const events: ConnectionEvents = {
    bytesCame: () => {},
    answered(_connection, _flight, { status, body }) {
      const answer = cutLone(body) ?? cutLoneCarefully(body, 1);
      const isGood = status === 200 && answer?.afterId.includes('"result"') === true;
      onPinged(isGood ? undefined : status === 200 ? "bad_answer" : "status");
    },
    failed: (_connection, _flight, reason) => onPinged(reason),
    streamBegan: (_flight, answer) => answer.abort(),
    streamEnded: () => {},
  };

  function close(): void {
    connection?.destroy();
    connection = undefined;
  }

  return {
    isPinging: () => connection?.request !== undefined,
    ping(): void {
      const sentAtMs = now();
      connection ??= open(events);
      connection.send(pingFlight(sentAtMs, sentAtMs + timeoutMs), pingBody);
    },
    sweep(nowMs: number): void {
      const endsAtMs = connection?.request?.endsAtMs;
      if (endsAtMs === undefined || nowMs < endsAtMs) return;
      close();
      onPinged("hung");
    },
    stop: close,
  };
}

function pingFlight(sentAtMs: number, endsAtMs: number): UpstreamRequest {
  const flags = {
    isHalfOpen: false,
    isAtHead: false,
    hasLeft: false,
    isHedged: false,
    isMoved: false,
    isAbandoned: false,
  };
  return { validatorIndex: -1, lane: -1, calls: [], sentAtMs, endsAtMs, ...flags };
}
