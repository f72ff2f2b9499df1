import type { Language } from "../../../lib/web/languages.ts";
import type { Page, PageContext } from "../../explorer/page.ts";
import type { DashboardServices } from "../dashboard/dashboard-operations.ts";
import type { Attention } from "../dashboard/read-attention.ts";
import type { Invoices } from "../invoices/invoices.ts";
import type { WalletSession } from "../session/session-store.ts";
import type { WalletSessions } from "../session/wallet-sessions.ts";
import type { Settings } from "../settings/settings.ts";
import type { WebhookRecord } from "../webhooks/webhook-record.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { KeySales } from "./key-sales.ts";
import type { Texts } from "./texts/en.ts";

/** What the pages show and change: the functions that the operations for programs call. */
export type MerchantServices = {
  sales: KeySales;
  dashboard: DashboardServices["dashboard"] & { attention(wallet: string): Promise<Attention> };
  invoices: Pick<Invoices, "list" | "csv" | "readWithHistory" | "createByForm" | "cancel" | "collect">;
  webhooks: Webhooks;
  /** What customers are told of a merchant. */
  profile: Settings;
  sessions: Pick<WalletSessions, "list" | "end" | "endOthers" | "forgetCookie">;
};

/** What a merchant's page is made with, beside what every page is made with. */
export type MerchantContext = PageContext & MerchantServices & { words: Texts; language: Language };

/** `webhook` is there for every page: that nothing is sent is said on each. */
export type SignedIn = MerchantContext & { session: WalletSession; webhook: WebhookRecord | null };

/** What is sent: a page, a file to save, or where to go on; with a cookie where the session ends. */
export type MerchantAnswer = (Page | { file: SavedFile } | { redirect: string }) & { setCookie?: string };

export type SavedFile = { text: string; type: string; name: string };

export type Input = {
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** Of a form that was posted; a field that stands there more than once is a list. */
  form: Readonly<Record<string, unknown>>;
};

/** A row of the table of merchants' pages; all are for somebody who has signed in. */
export type MerchantRoute = {
  method: "GET" | "POST";
  /** With Fastify's parameters, from the root. */
  path: string;
  /** What it is charged to the client's address; 1 where nothing is said. */
  cost?: number;
  answer(context: SignedIn, input: Input): Promise<MerchantAnswer> | MerchantAnswer;
};
