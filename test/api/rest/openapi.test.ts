import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { z } from "zod";
import { openApiOf } from "../../../api/rest/openapi.ts";
import { operations } from "../../../api/rest/operations.ts";
import { createRoutes } from "../../../api/rest/routes.ts";
import { startWorld } from "../support/start-world.ts";
import { findTool, runTool, schemathesisConfig } from "./support/tools.ts";

const routes = createRoutes({ version: "0", publicUrl: "http://127.0.0.1:4000", graphqlSchema: () => "" });
const document = openApiOf({ routes, operations, version: "0", servers: ["http://127.0.0.1:4000"] });
const snapshot = new URL("openapi.json", import.meta.url);

t.test("the published description changes on purpose only", async (t) => {
  const printed = `${JSON.stringify(document, null, 2)}\n`;
  if (process.env["UPDATE_SNAPSHOTS"] === "1") writeFileSync(snapshot, printed);
  t.same(
    JSON.parse(printed),
    JSON.parse(readFileSync(snapshot, "utf8")),
    "UPDATE_SNAPSHOTS=1 writes it anew",
  );
});

t.test("each name stands for something, and each example is a good value", async (t) => {
  const text = JSON.stringify(document);
  const parsed = z
    .object({ components: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(JSON.parse(text));
  for (const [, kind = "", name = ""] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g))
    t.ok(parsed.components[kind]?.[name], `${kind} ${name}`);
  t.notMatch(text, /\\p\{/, "properties of Unicode are in no pattern: tools of others cannot read them");
  t.notMatch(text, /__shared|\$schema|~standard/);
  const rows = [...routes, ...operations];
  const ids = rows.map(({ operationId }) => operationId);
  t.equal(new Set(ids).size, ids.length);
  for (const { params, query, operationId } of rows) {
    for (const [name, schema] of Object.entries({ ...params.shape, ...query.shape })) {
      const { examples = [], description } = z.globalRegistry.get(schema) ?? {};
      t.ok(description ?? name === "name", `${operationId} ${name} is described`);
      for (const example of [examples].flat())
        t.ok(z.safeParse(schema, String(example)).success, `${operationId} ${name}: ${example}`);
    }
  }
});

t.test(
  "tools of others find nothing wrong with the description, nor with what is served",
  { timeout: 300_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-openapi-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "openapi.json"), JSON.stringify(document));
    await writeFile(join(folder, ".spectral.yaml"), 'extends: ["spectral:oas"]\n');
    await writeFile(join(folder, "schemathesis.toml"), schemathesisConfig);

    const spectral = await findTool("spectral");
    await t.test("spectral", { skip: spectral.skip }, async (t) => {
      const { code, out } = await runTool(
        spectral.path,
        ["lint", "--fail-severity=warn", "openapi.json"],
        folder,
      );
      t.equal(code, 0, out);
    });
    const redocly = await findTool("redocly");
    await t.test("redocly", { skip: redocly.skip }, async (t) => {
      const { code, out } = await runTool(redocly.path, ["lint", "openapi.json"], folder);
      t.equal(code, 0, out);
    });
    const schemathesis = await findTool("schemathesis");
    await t.test("schemathesis", { skip: schemathesis.skip }, async (t) => {
      const { api } = await startWorld(t);
      const { code, out } = await runTool(
        schemathesis.path,
        [
          ...["--no-color", "run", `${api.url}/api/v1/openapi.json`, "--workers", "1", "--max-examples", "5"],
          // A cursor that nobody gave out and a wrong checksum are refused, which no schema can say; test/api/rest/refusals
          // holds what is taken.
          ...["--exclude-checks", "positive_data_acceptance", "--phases", "examples,coverage,fuzzing"],
          ...["--generation-database", "none"],
        ],
        folder,
      );
      t.equal(code, 0, out.slice(-8000));
      t.notMatch(out, /unresolvable/i);
      t.match(out, /Seed: \d+/, "its seed repeats a run: --seed");
    });
  },
);
