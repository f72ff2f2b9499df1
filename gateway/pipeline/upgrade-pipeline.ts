import { randomUUID } from "node:crypto";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { withCors } from "../server/cors.ts";
import type { Reply } from "../server/exchange.ts";
import { readOffer, type UpgradeHead } from "../server/websocket/read-offer.ts";
import type { Admitted, Sockets, Upgrade, UpgradeExchange } from "../server/websocket/sockets.ts";
import { type PipelineDependencies, unexpected } from "./request-context.ts";
import { answerProblem } from "./stages/answer.ts";
import { authenticate, checkPermission } from "./stages/authenticate.ts";
import { chargeRefusal } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { checkHttp, checkNoBody, notFound } from "./stages/read.ts";

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

/** The stages of an upgrade to a WebSocket, in order. It is refused as a request is. */
export function createUpgrade(deps: UpgradeDependencies): Upgrade {
  const { metrics, sockets, logger } = deps;

  async function admit({ head, peerAddress }: UpgradeExchange): Promise<Admitted | Refusal> {
    const refused = checkHttp(head) ?? checkNoBody(head) ?? (head.path === "/" ? undefined : notFound(head));
    if (refused !== undefined) return refused;
    const offer = readOffer(head);
    if (isRefusal(offer)) return offer;
    const key = await authenticate({ head: offer.head, peerAddress }, deps);
    if (isRefusal(key)) return key;
    const admission = checkPermission(key, "rpc") ?? checkOrigin(head, key) ?? sockets.admit(key);
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
      const admitted = await admit(exchange);
      return isRefusal(admitted) ? refuse(admitted, exchange.head) : admitted;
    } catch (error) {
      const requestId = randomUUID();
      logger.error({ err: error, requestId }, "upgrade failed unexpectedly");
      return refuse(failed, exchange.head, requestId);
    }
  };
}

const failed = refusal("internal_error", unexpected);
