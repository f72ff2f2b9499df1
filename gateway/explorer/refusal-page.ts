import { createHash } from "node:crypto";
import { errorTable } from "../../lib/errors.ts";
import { type Html, html } from "../../lib/web/html.ts";
import type { Refusal } from "../json-rpc/refusal.ts";
import type { Reply } from "../server/exchange.ts";

/** The explorer's own style sheet is behind the gateway, where a browser without a key does not come. */
const style = `body { font: 1rem/1.55 system-ui, sans-serif; margin: 12vh auto; max-width: 36rem; padding: 0 1rem }
:root { color-scheme: light dark }
code { overflow-wrap: anywhere }
small { opacity: 0.75 }`;

const styleHash = createHash("sha256").update(style).digest("base64");

const headers = {
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  Vary: "Accept, X-API-Key",
};

/** A refusal for people: what is wrong, and what to do about it. */
export function refusalPage(refused: Refusal, requestId: string): Reply {
  const { status, code } = errorTable[refused.refused];
  const { Connection: connection, ...more } = refused.headers ?? {};
  const { title, help } = words(status, { retryAfter: more["Retry-After"], code });
  const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Tollgate explorer</title>
    <style>${{ text: style }}</style>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      <p>${refused.message}.</p>
      ${help}
      <p><small>${String(status)} <code>${code}</code> · request <code>${requestId}</code></small></p>
    </main>
  </body>
</html>
`;
  return {
    status,
    contentType: "text/html; charset=utf-8",
    headers: { ...more, ...headers },
    body: page.text,
    close: connection === "close",
  };
}

function words(
  status: number,
  { retryAfter, code }: { retryAfter: string | undefined; code: string },
): { title: string; help: Html } {
  const again = html`<p><a href="">Load this page again</a>${
    retryAfter === undefined ? "" : ` in ${retryAfter} ${retryAfter === "1" ? "second" : "seconds"}`
  }.</p>`;
  if (status === 401) {
    return {
      title: "The explorer wants an API key",
      help: html`<p>A browser cannot send one by itself. Start the wallet proxy, which adds yours, and follow the explorer's link on its page.</p>`,
    };
  }
  if (code === "insufficient_permission") {
    return {
      title: "This API key does not open the explorer",
      help: html`<p>Ask your operator for a key with the permission <code>explorer</code>.</p>`,
    };
  }
  if (status === 429) return { title: "Too much at once", help: again };
  if (status === 503) return { title: "The explorer is away", help: again };
  return {
    title: "This cannot be shown",
    help: html`<p><a href="/explorer/">To the explorer's first page</a></p>`,
  };
}
