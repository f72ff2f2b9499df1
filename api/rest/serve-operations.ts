import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BodyReader } from "../../lib/http-service/body-reader.ts";
import { isRefusal, type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import { sendProblem } from "../../lib/http-service/send-problem.ts";
import { accepts } from "./accepts.ts";
import type { Operation } from "./operation.ts";
import type { Doors } from "./security.ts";

const urlLengthMax = 2048;
const jsonType = "application/json";

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
    if (!accepts(request.headers.accept, typeOf(row))) return refuse(notAcceptable);
    const answer = await row.carryOut({
      entry: { request, reply, cost: row.cost, doors },
      readBody: () => bodies.read(request),
      services,
    });
    if (isRefusal(answer)) return refuse(answer);
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

/** A row answers one type; only its refusals are of another. */
function typeOf({ responses }: Pick<Operation<never>, "responses">): string {
  const [response] = Object.values(responses);
  return response !== undefined && "mediaType" in response ? response.mediaType : jsonType;
}
