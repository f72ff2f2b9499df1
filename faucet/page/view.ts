import type { Html } from "../../lib/web/html.ts";
import type { Language } from "../../lib/web/languages.ts";
import type { Claim } from "../claims/claim.ts";
import type { FaucetConfig } from "../config.ts";
import type { StatusView } from "../read-status.ts";
import type { Texts } from "./texts/en.ts";
import type { Words } from "./words.ts";

/** Where the pages lead to. */
export type PageSettings = Pick<
  FaucetConfig,
  "walletRpcUrl" | "explorerUrl" | "walletProxyGuide" | "contact" | "amount"
>;

/** What every page is made with. */
export type View = {
  texts: Texts;
  words: Words;
  language: Language;
  settings: PageSettings;
  /** Where the link to the other language leads: from the root, with its query and without a slash before it. */
  path: string;
};

/** A claim, and what became of its address since; undefined where it is not known or not to be said. */
export type FollowedClaim = {
  claim: Claim;
  balanceWei?: bigint | undefined;
  /** When its address may claim again; in the past: now. */
  nextAtMs?: number | undefined;
};

/** What the faucet's one page shows. */
export type PageContent = {
  /** Undefined: it cannot be looked up. */
  status: StatusView | undefined;
  /** What was typed, to be typed no second time. */
  address?: string | undefined;
  /** What a claim of that address gets. */
  amountWei?: bigint | undefined;
  /** Why the claim was refused, or what else went wrong. */
  error?: Html | undefined;
  followed?: FollowedClaim | undefined;
  /** Of this browser, newest first. */
  recent: readonly Claim[];
};
