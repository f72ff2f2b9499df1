import { type Html, html } from "../../../lib/web/html.ts";
import type { AccountRecord } from "../../records/transaction.ts";
import type { PageContext } from "../page.ts";

export type Tab = "transactions" | "transfers" | "events";

/** The lists of an address as links, and a contract's own page. */
export function tabs(
  { texts, el }: PageContext,
  { address: account, isContract }: AccountRecord,
  shown: Tab,
): Html {
  const tabLink = (name: Tab, text: string) => {
    const current = name === shown ? html` aria-current="page"` : html``;
    return html`<a href="${el.to(`address/${account}?tab=${name}`)}"${current}>${text}</a>`;
  };
  const ofContract = isContract
    ? html`${tabLink("events", texts.transaction.events)}
${el.link(`contract/${account}`, texts.address.contract)}`
    : html``;
  return html`<nav class="tabs" aria-label="${texts.address.tabs}">
${tabLink("transactions", texts.address.transactions)}
${tabLink("transfers", texts.address.transfers)}
${ofContract}
</nav>`;
}
