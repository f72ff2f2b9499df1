import { isRefusal } from "../../../../lib/http-service/refusal.ts";
import { facts } from "../../../../lib/web/elements/table.ts";
import { html } from "../../../../lib/web/html.ts";
import type { Page } from "../../../explorer/page.ts";
import { message, moment, pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";
import { nameOfKey } from "./keys.ts";

const path = "/merchant/keys/:id/revoke";
const keysPath = "merchant/keys";

/** Asks once more. */
export const askToRevoke: MerchantRoute = {
  method: "GET",
  path,
  async answer(context, { params: { id = "" } }) {
    const { words, el, sales, session } = context;
    const { revoke: texts, keys } = words;
    const key = (await sales.keysOf(session.wallet)).find((each) => each.id === id);
    if (key === undefined) return missingKey(context);
    if (key.state !== "active") {
      return message(context, { title: texts.already, help: texts.alreadyHelp, status: 409, path: keysPath });
    }
    const title = texts.title(nameOfKey(key));
    return {
      title,
      description: words.intro,
      main: html`${pageHead(context, { title, tab: "keys" })}
<section class="card">
<p class="lead">${texts.warning}</p>
${facts([
  [keys.hint, html`<code>${key.hint}</code>`],
  [keys.expires, moment(context, key.expiresAt)],
  [keys.lastUsed, key.lastUsedAt === null ? keys.never : moment(context, key.lastUsedAt)],
])}
<form method="post" action="${el.to(`merchant/keys/${key.id}/revoke`)}" data-once>
<p class="actions"><button type="submit" class="danger">${texts.confirm}</button>
<a class="button quiet" href="${el.to("merchant/keys")}">${texts.keep}</a></p>
</form>
</section>`,
    };
  },
};

export const revoke: MerchantRoute = {
  method: "POST",
  path,
  async answer(context, { params: { id = "" } }) {
    const revoked = await context.sales.revoke(context.session.wallet, id);
    if (!isRefusal(revoked)) return { redirect: "merchant/keys?done=revoked" };
    if (revoked.refused === "not_found") return missingKey(context);
    const { inPart, inPartHelp } = context.words.revoke;
    return message(context, { title: inPart, help: inPartHelp, status: 503, path: keysPath });
  },
};

function missingKey(context: SignedIn): Page {
  const { missing, missingHelp } = context.words.revoke;
  return message(context, { title: missing, help: missingHelp, status: 404, path: keysPath });
}
