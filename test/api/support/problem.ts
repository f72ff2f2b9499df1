import { z } from "zod";

/** A problem document (RFC 9457), as each refusal of the API has to be. */
export const problem = z.strictObject({
  type: z.literal("about:blank"),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string().min(1),
  code: z.string(),
  requestId: z.string(),
  errors: z.array(z.strictObject({ pointer: z.string(), message: z.string() })).optional(),
});

/** Words by which a library would show. */
export const wordsOfLibraries =
  /FST_|fastify|zod|invalid input|received|node:|at \/|\.ts\b|pg_|postgres:|ECONN|syntax error/i;
