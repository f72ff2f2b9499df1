import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { readOwnFiles, readStaticFiles, staticCacheControl } from "../../lib/web/static-files.ts";

const yearSeconds = 31_536_000;
const files = [
  ...readStaticFiles(new URL("assets/", import.meta.url), ["page.css", "page.js", "icon.svg"]),
  ...readOwnFiles(new URL("../merchant/pages/assets/", import.meta.url), [
    "merchant.css",
    "merchant.js",
    "sign-in.js",
    "order.js",
    "invoice.js",
    "page-parts.js",
    "pay-with-wallet.js",
    "sent-payment.js",
    "wallet-choice.js",
  ]),
  ...readOwnFiles(new URL("../merchant/checkout/assets/", import.meta.url), [
    "checkout.css",
    "checkout.js",
    "countdown.js",
    "follow-payment.js",
    "payment-events.js",
  ]),
];
const version = files
  .reduce((hash, { path, body }) => hash.update(path).update(body), createHash("sha256"))
  .digest("base64url")
  .slice(0, 12);

/** Where pages have their files, from the root: a folder for each release, so that a browser asks for them once. */
export const filesFolder = `files/${version}/`;

/**
 * Serves the pages' files, for nothing. A replica of another release gets its own under any folder's name, so it keeps a
 * browser from keeping them.
 */
export function addFiles(app: FastifyInstance): void {
  for (const { path, type, body } of files) {
    app.get(path, (_request, reply) =>
      reply.header("Cache-Control", staticCacheControl).type(type).send(body),
    );
    app.get<{ Params: { version: string } }>(`/files/:version${path}`, ({ params }, reply) => {
      const isThisRelease = params.version === version;
      const cacheControl = isThisRelease ? `public, max-age=${yearSeconds}, immutable` : staticCacheControl;
      return reply.header("Cache-Control", cacheControl).type(type).send(body);
    });
  }
}
