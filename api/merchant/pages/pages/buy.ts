import { z } from "zod";
import { errorTable } from "../../../../lib/errors.ts";
import { isRefusal } from "../../../../lib/http-service/refusal.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { keyScopes } from "../../../rest/security.ts";
import { type KeyRequest, keyLabel, keyPackage, labelCharsMax } from "../../orders/key-request.ts";
import { notice, pageHead } from "../elements.ts";
import type { Input, MerchantRoute, SignedIn } from "../merchant-page.ts";
import { refusalText } from "../refusal-text.ts";
import { packageFacts } from "./packages.ts";

/** As a browser posts it: a box that is ticked alone is one text. */
const form = z.object({
  package: keyPackage,
  label: z.string().trim().pipe(keyLabel),
  scope: z.union([z.enum(keyScopes).transform((one) => [one]), z.array(z.enum(keyScopes))]),
});

/** What was typed, whatever it is, so that nobody has to type it again. */
type Typed = { package: unknown; label: string; scopes: readonly unknown[] };

const untouched: Typed = { package: "monthly", label: "", scopes: keyScopes };

/** Choosing what to buy. */
export const buy: MerchantRoute = {
  method: "GET",
  path: "/merchant/buy",
  answer: (context) => buyPage(context, { typed: untouched }),
};

/** Makes the order. One that waits for the same key already is the same order: a button that is pressed twice orders once. */
export const makeOrder: MerchantRoute = {
  method: "POST",
  path: "/merchant/orders",
  async answer(context, { form: given }) {
    const { sales, session, words } = context;
    const read = form.safeParse(given);
    if (!read.success) {
      return buyPage(context, { typed: typedOf(given), fault: faultOf(words.buy, read.error), status: 400 });
    }
    const wanted = { package: read.data.package, label: read.data.label, scopes: read.data.scope };
    const waiting = (await sales.waitingOrdersOf(session.wallet)).find(
      (order) => order.kind === "api_key" && order.status === "open" && isSame(order, wanted),
    );
    const order = waiting ?? (await sales.order(session.wallet, wanted));
    if (!isRefusal(order)) return { redirect: `merchant/orders/${order.id}` };
    const { status } = errorTable[order.refused];
    return buyPage(context, { typed: typedOf(given), fault: refusalText(context, order), status });
  },
};

function isSame(order: KeyRequest, wanted: KeyRequest): boolean {
  const own = (scopes: KeyRequest["scopes"]) => [...scopes].sort().join(" ");
  return (
    order.package === wanted.package &&
    order.label === wanted.label &&
    own(order.scopes) === own(wanted.scopes)
  );
}

function typedOf(given: Input["form"]): Typed {
  const { package: name, label, scope = [] } = given;
  return {
    package: name,
    label: typeof label === "string" ? label : "",
    scopes: Array.isArray(scope) ? scope : [scope],
  };
}

function faultOf(words: SignedIn["words"]["buy"], { issues }: z.ZodError): string {
  const at = issues[0]?.path[0];
  if (at === "package") return words.wrongPackage;
  return at === "label" ? words.wrongLabel : words.wrongScopes;
}

async function buyPage(
  context: SignedIn,
  { typed, fault, status }: { typed: Typed; fault?: string; status?: number },
) {
  const { words, el, sales, session } = context;
  const { buy: texts } = words;
  const active = (await sales.keysOf(session.wallet)).filter(({ state }) => state === "active").length;
  const isFull = active >= sales.activeKeysMax;
  return {
    title: texts.title,
    description: words.intro,
    ...(status === undefined ? {} : { status }),
    main: html`${pageHead(context, { title: texts.title, tab: "keys" })}
${notice(fault, "bad")}
${
  isFull
    ? html`<section class="card"><p>${texts.limit(el.integer(sales.activeKeysMax))}</p><p class="actions"><a class="button" href="${el.to("merchant/keys")}">${words.order.keys}</a></p></section>`
    : orderForm(context, typed)
}`,
  };
}

function orderForm(context: SignedIn, typed: Typed): Html {
  const { words, el, sales } = context;
  const { buy: texts } = words;
  const packages = sales.packages.map((offer) => {
    const checked = offer.name === typed.package ? html` checked` : html``;
    return html`<label class="package"><input type="radio" name="package" value="${offer.name}" required${checked}>
${packageFacts(context, offer)}</label>`;
  });
  const scopes = keyScopes.map((scope) => {
    const checked = typed.scopes.includes(scope) ? html` checked` : html``;
    return html`<label class="tick"><input type="checkbox" name="scope" value="${scope}"${checked}> <span>${words.scopes.names[scope]} <code>${scope}</code></span></label>`;
  });
  return html`<form class="card order-form" method="post" action="${el.to("merchant/orders")}" data-once>
<fieldset><legend>${texts.package}</legend><div class="packages">${packages}</div></fieldset>
<fieldset><legend>${words.scopes.title}</legend>${scopes}</fieldset>
<div class="fields"><label for="label">${texts.label}</label>
<input id="label" name="label" value="${typed.label}" maxlength="${String(labelCharsMax)}" autocomplete="off" aria-describedby="label-hint">
<p class="hint" id="label-hint">${texts.labelHint}</p></div>
<div class="actions"><button type="submit">${texts.submit}</button></div>
<p class="hint">${texts.nothingYet}</p>
</form>`;
}
