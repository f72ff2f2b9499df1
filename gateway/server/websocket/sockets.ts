import type { FoundKey } from "../../../lib/keys/key-reader.ts";
import type { AnswerBudget } from "../../answer-budget/answer-budget.ts";
import { type Refusal, refusal } from "../../json-rpc/refusal.ts";
import type { SubscriptionRegistry } from "../../subscriptions/subscription-registry.ts";
import type { Reply } from "../exchange.ts";
import type { CloseReason } from "./close-codes.ts";
import type { Subprotocol, UpgradeHead } from "./read-offer.ts";
import { type AnswerFrame, createSession, type Session } from "./session.ts";
import type { Wire } from "./session-sender.ts";
import type { WebSocketSettings } from "./web-socket-settings.ts";

export type UpgradeExchange = {
  head: UpgradeHead;
  /** The other end of the socket; empty where it is gone. */
  peerAddress(): string;
};

/** Decides on an upgrade: a place for the socket and its subprotocol, or the reply that refuses it. Never rejects. */
export type Upgrade = (exchange: UpgradeExchange) => Promise<Admitted | Reply>;

export type Admitted = { admission: Admission; subprotocol: Subprotocol };

/** A place among the key's connections: to be opened, or given back where the client has gone. */
export type Admission = { open(wire: Wire): Session; giveBack(): void };

export type Sockets = {
  admit(key: FoundKey): Admission | Refusal;
  count(): number;
  /** How many sockets the gateway has closed, by reason. */
  ended(): ReadonlyMap<CloseReason, number>;
  /** Closes every socket when what is under way on it is answered, at the latest after `timeoutMs`. */
  stop(options: { timeoutMs: number }): Promise<void>;
};

/** Well within the second after which a revoked key must open nothing. */
const keyCheckEveryMs = 400;

type KeySockets = { admitted: number; sessions: Set<Session> };

/** All WebSockets of this process, by their keys. */
export function createSockets({
  settings,
  answerFrame,
  isKeyOver,
  subscriptions,
  answerBudget,
  monotonicMs,
}: {
  settings: WebSocketSettings;
  answerFrame: AnswerFrame;
  /** Whether the key of this SHA-256 was revoked or has expired. Nearly always known from memory. Never rejects. */
  isKeyOver: (keyHash: string) => Promise<boolean>;
  subscriptions: SubscriptionRegistry;
  answerBudget: Pick<AnswerBudget, "open">;
  monotonicMs: () => number;
}): Sockets {
  const byKey = new Map<string, KeySockets>();
  const ended = new Map<CloseReason, number>();
  let open = 0;
  let isStopping = false;
  let onClosed = () => {};

  const checking = setInterval(() => {
    for (const keyHash of byKey.keys()) void check(keyHash);
  }, keyCheckEveryMs);
  checking.unref();

  async function check(keyHash: string): Promise<void> {
    if (await isKeyOver(keyHash)) endSessions(byKey.get(keyHash)?.sessions ?? [], "keyEnded");
  }

  function allSessions(): Session[] {
    return [...byKey.values()].flatMap(({ sessions }) => [...sessions]);
  }

  function countClosed(reason: CloseReason): void {
    ended.set(reason, (ended.get(reason) ?? 0) + 1);
  }

  function giveBack(keyHash: string, ofKey: KeySockets): void {
    ofKey.admitted -= 1;
    if (ofKey.admitted === 0) byKey.delete(keyHash);
  }

  function openSession(wire: Wire, { hash, id }: FoundKey, ofKey: KeySockets): Session {
    const session = createSession({
      wire,
      keyHash: hash,
      unread: answerBudget.open(id),
      settings,
      answerFrame,
      subscriptions,
      monotonicMs,
      onClose: countClosed,
    });
    ofKey.sessions.add(session);
    open += 1;
    return {
      ...session,
      closed() {
        if (!ofKey.sessions.delete(session)) return;
        open -= 1;
        giveBack(hash, ofKey);
        session.closed();
        onClosed();
      },
    };
  }

  return {
    admit(key) {
      const { hash } = key;
      if (isStopping) return stoppingRefusal;
      const ofKey = byKey.get(hash) ?? { admitted: 0, sessions: new Set<Session>() };
      if (ofKey.admitted >= settings.connectionsPerKeyMax) return tooManyConnections(settings);
      ofKey.admitted += 1;
      byKey.set(hash, ofKey);
      return { open: (wire) => openSession(wire, key, ofKey), giveBack: () => giveBack(hash, ofKey) };
    },
    count: () => open,
    ended: () => ended,
    async stop({ timeoutMs }) {
      isStopping = true;
      for (const session of allSessions()) session.stop();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        onClosed = () => {
          if (open > 0) return;
          clearTimeout(timer);
          resolve();
        };
        onClosed();
      });
      endSessions(allSessions(), "stopping");
      clearInterval(checking);
    },
  };
}

function endSessions(sessions: Iterable<Session>, reason: CloseReason): void {
  for (const session of [...sessions]) session.end(reason);
}

const stoppingRefusal = refusal("service_unavailable", "The gateway is stopping; connect again", {
  headers: { "Retry-After": "1" },
});

function tooManyConnections({ connectionsPerKeyMax }: WebSocketSettings): Refusal {
  return refusal("rate_limited", `This API key has ${connectionsPerKeyMax} connections, its limit`, {
    data: { connectionsPerKeyMax },
    headers: { "Retry-After": "1" },
  });
}
