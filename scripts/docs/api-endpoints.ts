import { createRoutes } from "../../api/rest/routes.ts";
import { type ApiExample, apiExamples, otherExamples } from "./api-examples.ts";
import { markdownTable } from "./markdown-table.ts";

/** The public API's routes as they are served, without an API. */
export function publishedRoutes() {
  return createRoutes({ version: "0", publicUrl: "http://127.0.0.1:4000", graphqlSchema: () => "" });
}

/**
 * Every endpoint of the public API, each with an example.
 * @throws Error for a route without an example, or an example without a route.
 */
export function endpointsTable(): string {
  const routes = publishedRoutes();
  const known = new Set(routes.map(({ operationId }) => operationId));
  const stray = Object.keys(apiExamples).find((name) => !known.has(name));
  if (stray !== undefined) throw new Error(`there is no route for the example ${stray}`);
  const rows = routes.map(({ path, operationId, summary, query, cost }) => {
    const example = apiExamples[operationId];
    if (example === undefined)
      throw new Error(`${operationId} has no example (scripts/docs/api-examples.ts)`);
    const names = Object.keys(query.shape);
    const parameters = names.length === 0 ? "" : ` (${names.map((name) => `\`${name}\``).join(", ")})`;
    const costs = cost === 1 ? "" : `; costs ${cost}`;
    const endpoint = `GET ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
    return rowOf({ endpoint, what: `${summary}${parameters}${costs}`, example });
  });
  const others = otherExamples.map(({ endpoint, what, options, ...example }) =>
    rowOf({ endpoint, what, example, options }),
  );
  return markdownTable(["Endpoint", "What it answers (query)", "Example", "Answer"], [...others, ...rows]);
}

function rowOf({
  endpoint,
  what,
  example: { ask, answer },
  options,
}: {
  endpoint: string;
  what: string;
  example: ApiExample;
  options?: string | undefined;
}): string[] {
  const url = `"$API${ask}"`;
  return [
    `\`${endpoint}\``,
    what,
    `\`curl -s ${options === undefined ? url : `${url} ${options}`}\``,
    `\`${answer}\``,
  ];
}
