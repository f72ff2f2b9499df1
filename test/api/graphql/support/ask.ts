import { z } from "zod";

const answerSchema = z.object({
  data: z.unknown().optional(),
  errors: z
    .array(
      z.object({ message: z.string(), extensions: z.object({ code: z.string().optional() }).optional() }),
    )
    .optional(),
});

/** Sends a query by POST. */
export async function ask(url: string, query: string, variables: object = {}) {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  return readAnswer(response);
}

/** Sends a query by GET. */
export async function askByGet(url: string, query: string) {
  return readAnswer(await fetch(`${url}/graphql?query=${encodeURIComponent(query)}`));
}

async function readAnswer(response: Response) {
  const text = await response.text();
  const { data, errors = [] } = answerSchema.parse(JSON.parse(text));
  return { status: response.status, headers: response.headers, text, data, errors };
}
