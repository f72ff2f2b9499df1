import { isRefusal } from "../../../../lib/http-service/refusal.ts";
import { html } from "../../../../lib/web/html.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import { idOf } from "../../public-id.ts";
import { message, pageHead } from "../elements.ts";
import type { MerchantRoute } from "../merchant-page.ts";
import { findShown } from "./invoice.ts";
import { missingInvoice, nameOfInvoice } from "./invoice-elements.ts";

const cancelPath = "/merchant/invoices/:id/cancel";

/** Asks once more. */
export const askToCancel: MerchantRoute = {
  method: "GET",
  path: cancelPath,
  async answer(context, { params: { id = "" } }) {
    const invoice = (await findShown(context, id))?.invoice;
    if (invoice === undefined) return missingInvoice(context);
    const { words, el } = context;
    const { cancel: texts } = words.invoices;
    const path = `merchant/invoices/${invoice.id}`;
    if (invoice.state !== "open") {
      return message(context, { title: texts.late, help: texts.lateHelp, status: 409, path });
    }
    const title = texts.title(nameOfInvoice(invoice));
    return {
      title,
      description: words.intro,
      main: html`${pageHead(context, { title, tab: "invoices" })}
<section class="card">
<p class="sum">${formatRupiah(invoice.amountIdr)}</p>
<p class="lead">${texts.warning}</p>
<form method="post" action="${el.to(`${path}/cancel`)}" data-once>
<p class="actions"><button type="submit" class="danger">${texts.confirm}</button>
<a class="button quiet" href="${el.to(path)}">${texts.keep}</a></p>
</form>
</section>`,
    };
  },
};

export const cancelInvoice: MerchantRoute = {
  method: "POST",
  path: cancelPath,
  async answer(context, { params: { id = "" } }) {
    const { invoices, session, words } = context;
    const uuid = idOf("inv").safeParse(id);
    if (!uuid.success) return missingInvoice(context);
    const canceled = await invoices.cancel({ wallet: session.wallet, keyId: null }, uuid.data);
    const path = `merchant/invoices/${id}`;
    if (!isRefusal(canceled)) return { redirect: `${path}?done=canceled` };
    if (canceled.refused !== "invalid_params") return missingInvoice(context);
    const { late, lateHelp } = words.invoices.cancel;
    return message(context, { title: late, help: lateHelp, status: 409, path });
  },
};

/** Passes on what lies at the deposit address: a part, before what is due is passed on by itself. */
export const collectInvoice: MerchantRoute = {
  method: "POST",
  path: "/merchant/invoices/:id/collect",
  cost: 5,
  async answer(context, { params: { id = "" } }) {
    const { invoices, session, words } = context;
    const uuid = idOf("inv").safeParse(id);
    if (!uuid.success) return missingInvoice(context);
    const done = await invoices.collect(session.wallet, uuid.data);
    const path = `merchant/invoices/${id}`;
    if (!isRefusal(done)) return { redirect: `${path}?done=collected` };
    if (done.refused !== "invalid_params") return missingInvoice(context);
    const { nothingCollected, nothingCollectedHelp } = words.invoices.one;
    return message(context, { title: nothingCollected, help: nothingCollectedHelp, status: 409, path });
  },
};
