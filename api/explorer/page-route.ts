import type { z } from "zod";
import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import { missingPage, refusedPage } from "./error-pages.ts";
import type { Page, PageAnswer, PageContext } from "./page.ts";
import type { Texts } from "./texts/en.ts";

/** A row of the table of pages. */
export type PageRoute = {
  /** With Fastify's parameters, from the root: `/block/:number`. */
  path: string;
  /** The entry of the navigation that it belongs to. */
  entry: keyof Texts["nav"] | undefined;
  /** Points of the limit that a request costs. */
  cost(query: unknown): number;
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
  cost = () => 1,
  render,
}: {
  path: string;
  entry?: keyof Texts["nav"];
  params: Params;
  query: Query;
  /** What is shown for a parameter of the path that cannot be. */
  invalid?: (context: PageContext) => Page;
  /** Points that a page costs whose making asks more of the chain than others. */
  cost?: (query: z.output<Query>) => number;
  render: (
    context: PageContext,
    input: { params: z.output<Params>; query: z.output<Query> },
  ) => Promise<PageAnswer | Refusal> | PageAnswer | Refusal;
}): PageRoute {
  return {
    path,
    entry,
    cost: (raw) => cost(readQuery(query, raw)),
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
