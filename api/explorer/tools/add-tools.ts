import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { graphiqlFiles, scalarFiles } from "./tool-files.ts";
import { addToolFiles, sendToolPage } from "./tool-page.ts";

/** The page in which requests of REST v1 are tried. */
export function addTryPage(app: FastifyInstance): void {
  addToolFiles(app, scalarFiles);
  const page = {
    title: "Try the API",
    path: "/docs/try",
    files: scalarFiles,
    instead: { href: "../docs", text: "The reference as a page" },
  };
  app.get(page.path, (_request, reply) => sendToolPage(reply, page));
}

export type Playground = {
  addTo(app: FastifyInstance): void;
  /** Shows a person who opens /graphql something to type a query into; undefined for everybody else. */
  show(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
};

/** GraphiQL, for development; undefined elsewhere, and where it is not installed. */
export function createPlayground({ isDevelopment }: { isDevelopment: boolean }): Playground | undefined {
  const files = isDevelopment ? graphiqlFiles() : undefined;
  if (files === undefined) return undefined;
  const page = {
    title: "GraphiQL",
    path: "/graphql",
    files,
    instead: { href: "./docs", text: "The reference of the API" },
  };
  return {
    addTo: (app) => addToolFiles(app, files),
    show({ method, url, headers }, reply) {
      const isForPeople =
        method === "GET" && url === page.path && /\btext\/html\b/i.test(headers.accept ?? "");
      return isForPeople ? sendToolPage(reply, page) : undefined;
    },
  };
}
