import type { z } from "zod";
import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import type { Html } from "../../lib/web/html.ts";
import type { ReadModel } from "../read/read-model.ts";
import type { Elements } from "./elements/elements.ts";
import { missingPage, refusedPage } from "./error-pages.ts";
import type { Texts } from "./texts/en.ts";

/** Where the explorer's pages lead to, and what they say of the API. */
export type PageSettings = {
  /** Where people reach the API, for link previews. */
  publicUrl: string;
  /** Empty: there is no link to it. */
  faucetUrl: string;
  walletProxyUrl: string;
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
  /** How many seconds after which a page without scripts loads itself again. */
  refreshSeconds?: number;
  /** Whether it tells of new blocks: "count" with a link to them, "follow" by loading itself. */
  live?: "count" | "follow";
  /** Its neighbours, from the root, for links and the arrow keys. */
  previous?: string | undefined;
  next?: string | undefined;
  /** What was searched for, to stay in its field. */
  searched?: string;
  /** It stays true while the release stays; others for one head. */
  lasting?: boolean;
};

export type PageAnswer = Page | { redirect: string };

/** A row of the table of pages. */
export type PageRoute = {
  /** With Fastify's parameters, from the root: `/block/:number`. */
  path: string;
  /** The entry of the navigation that it belongs to. */
  entry: keyof Texts["nav"] | undefined;
  answer(context: PageContext, raw: { params: unknown; query: unknown }): Promise<PageAnswer>;
};

type Shape = z.ZodObject;

/**
 * Makes a row. A path that cannot be is a page that there is not; a query that cannot be is left out, since links are
 * passed on with what others append to them.
 */
export function pageRoute<Params extends Shape, Query extends Shape>({
  path,
  entry,
  params,
  query,
  invalid = missingPage,
  render,
}: {
  path: string;
  entry?: keyof Texts["nav"];
  params: Params;
  query: Query;
  /** What is shown for a parameter of the path that cannot be. */
  invalid?: (context: PageContext) => Page;
  render: (
    context: PageContext,
    input: { params: z.output<Params>; query: z.output<Query> },
  ) => Promise<PageAnswer | Refusal> | PageAnswer | Refusal;
}): PageRoute {
  return {
    path,
    entry,
    async answer(context, raw) {
      const found = params.safeParse(raw.params);
      if (!found.success) return invalid(context);
      const answered = await render(context, { params: found.data, query: readQuery(query, raw.query) });
      return isRefusal(answered) ? refusedPage(context, path) : answered;
    },
  };
}

/** Each parameter by itself: one that cannot be used takes no other with it. */
function readQuery<Query extends Shape>(query: Query, raw: unknown): z.output<Query> {
  const whole = query.safeParse(raw);
  if (whole.success) return whole.data;
  const wrong = new Set(
    whole.error.issues.flatMap(({ path: [key] }) => (key === undefined ? [] : [String(key)])),
  );
  const entries = Object.entries(Object(raw)).filter(([key]) => !wrong.has(key));
  return query.parse(Object.fromEntries(entries));
}
