import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import type { BodyReader } from "../../lib/http-service/body-reader.ts";
import { isRefusal, type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import { sendProblem } from "../../lib/http-service/send-problem.ts";
import { openEventStream } from "../live/open-event-stream.ts";
import { accepts } from "./accepts.ts";
import type { Operation } from "./operation.ts";
import type { Doors } from "./security.ts";

const urlLengthMax = 2048;
const jsonType = "application/json";
const streamType = "text/event-stream";

const tooLong = refusal("uri_too_long", `The URL is longer than ${urlLengthMax} characters`);
const notAcceptable = refusal(
  "not_acceptable",
  "The answer is of a type that the request's Accept leaves out",
);

/** Adds each operation of the table. Answers are for one caller: nothing may keep them (`no-store`, as every answer has by itself). */
export function serveOperations<Services>(
  app: FastifyInstance,
  {
    operations,
    services,
    bodies,
    doors,
  }: {
    operations: readonly Operation<Services>[];
    services: Services;
    bodies: Pick<BodyReader, "read">;
    doors: Doors;
  },
): void {
  async function handle(
    row: Operation<Services>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const refuse = (refused: Refusal) => sendProblem({ request, reply, refused });
    if (request.url.length > urlLengthMax) return refuse(tooLong);
    const type = chooseType(row, request);
    if (type === undefined) return refuse(notAcceptable);
    const answer = await row.carryOut({
      entry: { request, reply, cost: row.cost, doors },
      wantsStream: type === streamType,
      readBody: () => bodies.read(request),
      services,
    });
    if (isRefusal(answer)) return refuse(answer);
    if ("stream" in answer) {
      const refused = answer.stream.refused();
      if (refused !== undefined) return refuse(refused);
      answer.stream.begin(openEventStream(request, reply));
      return reply;
    }
    reply.code(answer.status).headers(answer.headers ?? {});
    if ("text" in answer) {
      reply.header("Content-Disposition", `attachment; filename="${answer.fileName}"`);
      return reply.header("Content-Type", answer.type).send(answer.text);
    }
    return "record" in answer ? reply.send(answer.record) : reply.send();
  }

  for (const row of operations) {
    app.route({
      method: row.method,
      url: row.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      handler: (request, reply) => handle(row, request, reply),
    });
  }
}

/** The type that the client prefers (RFC 9110 section 12.5.1) of those that the row answers; undefined where it takes none of them. */
function chooseType(
  row: Operation<never>,
  { method, headers }: Pick<FastifyRequest, "method" | "headers">,
): string | undefined {
  const type = typeOf(row);
  // HEAD has no stream: it would have no end.
  if (row.eventStream === undefined || method !== "GET")
    return accepts(headers.accept, type) ? type : undefined;
  const accept = headers.accept?.trim() || "*/*";
  return new Negotiator({ headers: { accept } }).mediaType([type, streamType]);
}

/** A row answers one type, and those with a stream that one too; only its refusals are of another. */
function typeOf({ responses }: Pick<Operation<never>, "responses">): string {
  const [response] = Object.values(responses);
  return response !== undefined && "mediaType" in response ? response.mediaType : jsonType;
}
