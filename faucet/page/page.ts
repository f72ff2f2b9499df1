import type { FastifyInstance, FastifyReply } from "fastify";
import type { ProblemDocument } from "../../lib/http-service/problem.ts";
import { pageHeaders } from "../../lib/web/page-headers.ts";
import { readStaticFiles, staticCacheControl } from "../../lib/web/static-files.ts";
import type { FaucetConfig } from "../config.ts";
import type { ClaimView } from "../http/claim-view.ts";
import type { StatusView } from "../read-status.ts";
import { lengthOf, type PageContent, renderPage } from "./render.ts";

export type Page = {
  /** Serves `/` and the files that it needs. */
  addTo(app: FastifyInstance): void;
  /** The page of one claim, which loads itself again until the claim has ended. */
  renderClaim(claim: ClaimView): Promise<string>;
  /** The page with what is wrong, and the form as it was filled in. */
  renderRefusal(refused: {
    problem: ProblemDocument;
    address: string;
    retryAfterMs: number | undefined;
  }): Promise<string>;
  send(reply: FastifyReply, text: string): FastifyReply;
};

const headers = pageHeaders({ formsTo: "self" });
const files = readStaticFiles(new URL(".", import.meta.url), ["page.css", "page.js", "icon.svg"]);

/** The faucet's pages for people, with or without scripts. */
export function createPage({
  config: { walletRpcUrl, explorerUrl },
  status,
}: {
  config: Pick<FaucetConfig, "walletRpcUrl" | "explorerUrl">;
  status: () => Promise<StatusView>;
}): Page {
  async function render(content: Partial<PageContent>): Promise<string> {
    return renderPage({ status: await status(), walletRpcUrl, explorerUrl, ...content });
  }

  function send(reply: FastifyReply, text: string): FastifyReply {
    return reply.headers(headers).type("text/html; charset=utf-8").send(text);
  }

  return {
    send,
    addTo(app) {
      app.get("/", async (_request, reply) => send(reply, await render({})));
      for (const { path, type, body } of files) {
        app.get(path, (_request, reply) =>
          reply.header("Cache-Control", staticCacheControl).type(type).send(body),
        );
      }
    },
    renderClaim: (claim) => render({ claim, address: claim.address }),
    renderRefusal: ({ problem: { detail, errors }, address, retryAfterMs }) =>
      render({ address, error: explain({ text: errors?.[0]?.message ?? detail, retryAfterMs }) }),
  };
}

/** A problem's words for a person: begun with a capital, ended with a full stop, and with the time in words. */
function explain({ text, retryAfterMs }: { text: string; retryAfterMs: number | undefined }): string {
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(
    "; Retry-After tells when the next is possible",
    "",
  );
  const again =
    retryAfterMs === undefined ? "" : ` Try again in ${lengthOf(Math.ceil(retryAfterMs / 1000))}.`;
  return `${sentence}.${again}`;
}
