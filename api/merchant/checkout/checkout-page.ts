import type { WalletConfiguration } from "../../../lib/network.ts";
import type { Html } from "../../../lib/web/html.ts";
import type { Language } from "../../../lib/web/languages.ts";
import type { PageContext } from "../../explorer/page.ts";
import type { CustomerInvoice } from "./customer-invoice.ts";
import type { Texts } from "./texts/en.ts";

/** What a payment page is made with: `el` and `settings` are those of all pages of this site. */
export type CheckoutContext = Pick<PageContext, "el" | "settings" | "read"> & {
  /** What a customer's wallet is told of the network. */
  network: WalletConfiguration;
  words: Texts;
  language: Language;
};

/** What is shown; the frame around it is the same for all. */
export type CheckoutPage = {
  title: string;
  /** A sentence for link previews. */
  description: string;
  main: Html;
  status?: number;
  /** Whose page it is; undefined where that is not known. */
  invoice?: CustomerInvoice;
};
