import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { network } from "../../../lib/network.ts";
import { html } from "../../../lib/web/html.ts";
import type { ToolFile } from "./tool-files.ts";

/**
 * The policy of a page that holds somebody else's program: all of it comes from this host and asks nobody else. Such
 * programs write styles while they run, which no other page of ours may; scripts stay files of this host.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");
/** Their files change with a release: a copy is asked about each time, which costs nothing. */
const cacheControl = "no-cache";

export type ToolPage = {
  title: string;
  /** Where the page is; its files count from here. */
  path: string;
  files: readonly ToolFile[];
  /** Shown without scripts: where the same is to be had. */
  instead: { href: string; text: string };
};

/** A page with an element `#app`, which its scripts fill, in their order. */
export function sendToolPage(reply: FastifyReply, { title, path, files, instead }: ToolPage): FastifyReply {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const relative = (file: ToolFile) => `./${file.path.slice(folder.length)}`;
  const links = files.map((file) =>
    file.type.startsWith("text/css")
      ? html`<link rel="stylesheet" href="${relative(file)}">`
      : html`<script defer src="${relative(file)}"></script>`,
  );
  const { text } = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · ${network.chainName}</title>
    <link rel="icon" href="${path.split("/").length > 2 ? "../" : "./"}icon.svg" type="image/svg+xml">
    ${links}
  </head>
  <body>
    <div id="app"></div>
    <noscript><p>${title}: <a href="${instead.href}">${instead.text}</a></p></noscript>
  </body>
</html>
`;
  return reply
    .headers({ "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", Vary: "Origin, Accept" })
    .header("Cache-Control", cacheControl)
    .type("text/html; charset=utf-8")
    .send(text);
}

/** The files of such a page, compressed once, when somebody first asks. They cost nothing: a page needs them to be one. */
export function addToolFiles(app: FastifyInstance, files: readonly ToolFile[]): void {
  for (const file of files) {
    app.get(file.path, async (request: FastifyRequest, reply: FastifyReply) => {
      const { etag, plain, gzipped } = await file.read();
      reply.headers({ ETag: etag, "Cache-Control": cacheControl, Vary: "Accept-Encoding, Origin" });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      reply.type(file.type);
      const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
        String(request.headers["accept-encoding"] ?? ""),
      );
      return takesGzip ? reply.header("Content-Encoding", "gzip").send(gzipped) : reply.send(plain);
    });
  }
}
