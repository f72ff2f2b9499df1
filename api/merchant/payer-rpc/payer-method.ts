import type { z } from "zod";
import { refusal } from "../../../lib/http-service/refusal.ts";
import type { Outcome } from "./outcome.ts";

/** A row of the table: what becomes of a call with these parameters. `client` is who is counted. */
export type PayerMethod = (params: readonly unknown[], client: string) => Promise<Outcome>;

/** A row whose parameters a schema reads; others are refused with what was expected, and where. */
export function method<Params>(
  expects: readonly string[],
  schema: z.ZodType<Params>,
  run: (params: Params, client: string) => Promise<Outcome>,
): PayerMethod {
  return async (params, client) => {
    const parsed = schema.safeParse(params);
    if (parsed.success) return run(parsed.data, client);
    const path = parsed.error.issues[0]?.path ?? [];
    const expected = expects[Number(path[0])];
    return refusal(
      "invalid_params",
      expected === undefined || params.length > expects.length
        ? `These parameters are taken, in this order: ${expects.join("; ") || "none"}`
        : `A parameter cannot be used (params/${path.join("/")}): ${expected} was expected`,
    );
  };
}
