import { randomUUID } from "node:crypto";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { withCors } from "../server/cors.ts";
import type { Reply } from "../server/exchange.ts";
import { readOffer, type Subprotocol, type UpgradeHead } from "../server/websocket/read-offer.ts";
import type { Admission, Sockets } from "../server/websocket/sockets.ts";
import type { PipelineDependencies } from "./pipeline.ts";
import { answerProblem } from "./stages/answer.ts";
import { authenticate, checkPermission } from "./stages/authenticate.ts";
import { chargeRefusal } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { checkHttp, checkNoBody, notFound } from "./stages/read.ts";

export type UpgradeExchange = {
  head: UpgradeHead;
  /** The other end of the socket; empty where it is gone. */
  peerAddress(): string;
};

/** Decides on an upgrade: a place for the socket and its subprotocol, or the answer that refuses it. Never rejects. */
export type Upgrade = (exchange: UpgradeExchange) => Promise<Admitted | Reply>;

export type Admitted = { admission: Admission; subprotocol: Subprotocol };

type UpgradeDependencies = Pick<
  PipelineDependencies,
  | "profile"
  | "keys"
  | "failures"
  | "monotonicMs"
  | "clientAddress"
  | "limiter"
  | "limits"
  | "metrics"
  | "logger"
> & { sockets: Pick<Sockets, "admit"> };

/** The way of an upgrade to WebSocket, in order: refused before it as a request would be. */
export function createUpgrade(deps: UpgradeDependencies): Upgrade {
  const { metrics, sockets, logger } = deps;

  async function travel({ head, peerAddress }: UpgradeExchange): Promise<Admitted | Refusal> {
    const refused = checkHttp(head) ?? checkNoBody(head) ?? (head.path === "/" ? undefined : notFound(head));
    if (refused !== undefined) return refused;
    const offer = readOffer(head);
    if (isRefusal(offer)) return offer;
    const key = await authenticate({ head: offer.head, peerAddress }, deps);
    if (isRefusal(key)) return key;
    const mayNot = checkPermission(key, "rpc") ?? checkOrigin(head, key);
    const admission = mayNot ?? sockets.admit(key);
    if (!isRefusal(admission)) return { admission, subprotocol: offer.selected };
    return chargeRefusal(admission, {}, key, deps);
  }

  function refuse(refused: Refusal, { origin }: UpgradeHead, requestId: string = randomUUID()): Reply {
    const reply = answerProblem(refused, requestId);
    metrics.requests.inc(reply.status);
    metrics.refusals.inc(refused.refused);
    logger.debug({ requestId, status: reply.status, refused: refused.refused }, "upgrade refused");
    return origin === undefined ? reply : withCors(reply);
  }

  return async (exchange) => {
    try {
      const travelled = await travel(exchange);
      return isRefusal(travelled) ? refuse(travelled, exchange.head) : travelled;
    } catch (error) {
      const requestId = randomUUID();
      logger.error({ err: error, requestId }, "upgrade failed unexpectedly");
      return refuse(somethingWrong, exchange.head, requestId);
    }
  };
}

const somethingWrong = refusal(
  "internal_error",
  "Something went wrong on our side; tell your operator the requestId",
);
