import { html } from "../../../../../lib/web/html.ts";
import type { Page } from "../../../../explorer/page.ts";
import type { SignedIn } from "../../merchant-page.ts";
import { secretPage } from "../secret-page.ts";

/** As a program checks X-Svc-Signature; test/api/merchant/pages/webhooks.test.ts runs it. */
export const exampleOfChecking = `import { createHmac, timingSafeEqual } from "node:crypto";

/** body: the bytes as they came; signature: the header X-Svc-Signature. */
export function isOurs(body, signature) {
  const digest = createHmac("sha256", process.env.SVC_WEBHOOK_SECRET).update(body).digest();
  const given = Buffer.from(String(signature).replace(/^sha256=/, ""), "hex");
  return given.length === digest.length && timingSafeEqual(given, digest);
}
`;

/** A webhook's secret, shown once. */
export function webhookSecretPage(context: SignedIn, secret: string): Page {
  const { secret: texts } = context.words.webhooks;
  const path = "merchant/webhooks";
  return secretPage(context, {
    ...{ title: texts.title, tab: "webhooks", texts, secret, back: path },
    file: `SVC_WEBHOOK_SECRET=${secret}\n`,
    saved: { path, text: texts.saved },
    use: html`<h2>${texts.use}</h2>
<p>${texts.useHelp}</p>
<pre class="raw" tabindex="0">${exampleOfChecking}</pre>`,
  });
}
