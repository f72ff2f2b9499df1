import type { Html } from "../../lib/web/html.ts";
import type { ReadModel } from "../read/read-model.ts";
import type { Elements } from "./elements/elements.ts";
import type { Texts } from "./texts/en.ts";

/** Where the explorer's pages lead to, and what they say of the API. */
export type PageSettings = {
  /** Where people reach the API, for link previews. */
  publicUrl: string;
  /** Empty: there is no link to it. */
  faucetUrl: string;
  walletProxyUrl: string;
  /** Whether a person who opens /graphql gets something to type into. */
  hasPlayground: boolean;
  limit: { points: number; windowSeconds: number };
};

/** What a page is made with. */
export type PageContext = {
  texts: Texts;
  el: Elements;
  read: ReadModel;
  settings: PageSettings;
  now: () => number;
};

/** What a page shows; the frame around it is the same for all. */
export type Page = {
  title: string;
  /** A sentence for link previews. */
  description: string;
  main: Html;
  status?: number;
  /** Of an error that may pass: page.js asks so often whether the page is there by now. */
  retrySeconds?: number;
  /** Whether it tells of new blocks: "count" with a link to them, "follow" by loading itself. */
  live?: "count" | "follow";
  /** Its neighbours, from the root, for links and the arrow keys. */
  previous?: string | undefined;
  next?: string | undefined;
  /** What was searched for, to stay in its field. */
  searched?: string;
  /** Its style sheet and script beside those that every page has, by their name without an ending. */
  assets?: string;
  /** Texts for them, beside those that every page has. */
  words?: Readonly<Record<string, string>>;
  /** It stays true while the release stays; others for one head. */
  lasting?: boolean;
};

export type PageAnswer = Page | { redirect: string };
