import type { FastifyReply, FastifyRequest } from "fastify";
import type { Refusal } from "../../lib/http-service/refusal.ts";
import { prepareRefusal, sendProblemDocument } from "../../lib/http-service/send-problem.ts";
import type { Page } from "../page/page.ts";

export type SendRefusal = (answering: {
  request: FastifyRequest;
  reply: FastifyReply;
  refused: Refusal;
  /** What a form was filled in with. */
  typedAddress?: string;
}) => Promise<FastifyReply>;

/** Answers with a problem document, or with the page for a person. */
export function createSendRefusal({ page }: { page: Page | undefined }): SendRefusal {
  return async ({ request, reply, refused, typedAddress = "" }) => {
    const problem = prepareRefusal({ request, reply, refused });
    return page !== undefined && wantsPage(request)
      ? page.sendRefusal({ request, reply, refused, typedAddress })
      : sendProblemDocument(reply, problem);
  };
}

/** Browsers name HTML first, when a person follows a link or sends a form; programs do not. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.split(",", 1)[0]?.trim().startsWith("text/html") === true;
}
