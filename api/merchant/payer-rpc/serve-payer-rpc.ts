import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";
import type { Logger } from "pino";
import { errorTable } from "../../../lib/errors.ts";
import type { BodyReader } from "../../../lib/http-service/body-reader.ts";
import { type ClientAddress, limitAddress } from "../../../lib/http-service/client-address.ts";
import { rateLimitFields, seconds } from "../../../lib/http-service/rate-limit-fields.ts";
import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { Standing } from "../../limits/request-limiter.ts";
import { addressOf } from "../../rest/charge.ts";
import type { CarryOut } from "./carry-out.ts";
import { answerText, type Outcome, type RpcId } from "./outcome.ts";
import { payerRpcPath } from "./payer-rpc-config.ts";
import { readRequest } from "./read-request.ts";

/** Twenty payments take 24 kB. */
const bodyBytesMax = 32_768;
/** Of a batch: what does not fit is refused, since a small request could ask for twenty whole blocks. */
const answerCharactersMax = 2_097_152;

/**
 * `POST /rpc`: JSON-RPC 2.0 over HTTP, single calls and batches, and every refusal as an error object, since wallets show no
 * problem documents. A lone call that is limited or cannot be answered has the refusal's status too, as at the gateway.
 */
export function servePayerRpc(
  app: FastifyInstance,
  {
    carryOut,
    batchItemsMax,
    bodies,
    clientAddress,
    logger,
  }: {
    carryOut: CarryOut;
    batchItemsMax: () => number;
    bodies: Pick<BodyReader, "read">;
    clientAddress: ClientAddress;
    logger: Pick<Logger, "error">;
  },
): void {
  app.route({
    method: "POST",
    url: payerRpcPath,
    bodyLimit: bodyBytesMax,
    async handler(request, reply) {
      const client = `payer-rpc:${limitAddress(addressOf(request, clientAddress))}`;
      const body = bodies.read(request);
      const read = isRefusal(body) ? body : readRequest(body.body, { batchItemsMax: batchItemsMax() });
      // What is no request costs its client a call.
      if (isRefusal(read)) {
        const { outcome, standing } = await carryOut({ id: null, invalid: read }, client);
        return sendUnread(reply.headers(fieldsOf(standing)), outcome);
      }
      if (read.kind === "single") {
        const { outcome, standing } = await carryOut(read.call, client);
        const { id } = read.call;
        reply.headers(fieldsOf(standing));
        return id === undefined ? reply.code(204).send() : sendOne(reply, { id, outcome });
      }
      const all = await Promise.all(
        read.calls.map(async (call) => ({ call, carried: await carryOut(call, client) })),
      );
      const asked = all.flatMap(({ call: { id }, carried }) =>
        id === undefined ? [] : [{ id, ...carried }],
      );
      const lowest = all
        .map(({ carried }) => carried.standing)
        .toSorted((a, b) => a.remaining - b.remaining)[0];
      if (lowest !== undefined) reply.headers(fieldsOf(lowest));
      if (asked.length === 0) return reply.code(204).send();
      return sendJson(reply, `[${joinAnswers(asked)}]`);
    },
    errorHandler(error, request, reply) {
      const refused = whyUnread(error);
      if (refused === internal) {
        logger.error({ err: error, requestId: request.id }, "a request of a wallet failed");
      }
      return sendUnread(reply, refused);
    },
  });
}

type Answered = { id: RpcId; outcome: Outcome };

/** The answer to a request that is one call. */
function sendOne(reply: FastifyReply, { id, outcome }: Answered): FastifyReply {
  if ("refused" in outcome) {
    const { status } = errorTable[outcome.refused];
    if (status === 429 || status === 503) reply.code(status);
    if (outcome.retryAfterMs !== undefined) reply.header("Retry-After", seconds(outcome.retryAfterMs));
  }
  return sendJson(reply, answerText(id, outcome));
}

/** The answer to what is no request. */
function sendUnread(reply: FastifyReply, outcome: Outcome): FastifyReply {
  if ("refused" in outcome) reply.code(errorTable[outcome.refused].status);
  return sendOne(reply, { id: null, outcome });
}

function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header("Content-Type", "application/json; charset=utf-8").send(text);
}

function joinAnswers(answers: readonly Answered[]): string {
  let left = answerCharactersMax;
  const texts = answers.map(({ id, outcome }) => {
    const text = answerText(id, outcome);
    if (text.length > left) return answerText(id, tooLong);
    left -= text.length;
    return text;
  });
  return texts.join(",");
}

function fieldsOf({ limit, remaining, windowSeconds, resetMs }: Standing) {
  return rateLimitFields([
    { name: "payer-rpc", limit, used: limit - remaining, windowMs: windowSeconds * 1000, resetMs },
  ]);
}

/** What Fastify refuses before there is a call. */
function whyUnread({ code, statusCode }: FastifyError): Refusal {
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return refusal("body_too_large", `The body is larger than allowed: at most ${bodyBytesMax} bytes`);
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return wrongType;
  return statusCode !== undefined && statusCode < 500 ? unreadable : internal;
}

const wrongType = refusal("unsupported_media_type", "The body is sent as application/json");
const unreadable = refusal("invalid_request", "The request cannot be read");
const internal = refusal("internal_error", "Something went wrong on our side");
const tooLong = refusal("answer_too_large", "The answers of the batch are too long; ask for this alone");
