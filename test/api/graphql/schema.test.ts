import { readFileSync, writeFileSync } from "node:fs";
import { getIntrospectionQuery, isObjectType, parse, printSchema } from "graphql";
import t from "tap";
import { z } from "zod";
import { findExcess } from "../../../api/graphql/limit-cost.ts";
import { createSchema } from "../../../api/graphql/schema.ts";
import { renamedFields } from "../../../api/graphql/schema-types.ts";
import { openApiOf } from "../../../api/rest/openapi.ts";
import { createRoutes } from "../../../api/rest/routes.ts";

const schema = createSchema();
const snapshot = new URL("schema.sdl.txt", import.meta.url);

t.test("the published schema changes on purpose only", async (t) => {
  const printed = `${printSchema(schema)}\n`;
  if (process.env["UPDATE_SNAPSHOTS"] === "1") writeFileSync(snapshot, printed);
  t.equal(
    printed,
    readFileSync(snapshot, "utf8"),
    "UPDATE_SNAPSHOTS=1 npx tap test/api/graphql/schema.test.ts writes it anew",
  );
});

/** Fields of a type that its record in REST has not: lists and records that can be looked into from there. */
const beyondRest: Readonly<Record<string, readonly string[]>> = {
  Block: ["transactions", "consensus", "transactionHashes"],
  BlockSummary: ["transactions", "consensus"],
  Transaction: ["block"],
  TransactionSummary: ["block"],
  Account: ["transactions", "transfers"],
};
/** Records of REST that GraphQL has under other names, or not at all, and why. */
const notInGraphql: Readonly<Record<string, string>> = {
  Blocks: "BlockConnection",
  Transactions: "TransactionConnection",
  Transfers: "TransferConnection",
  BurnEvents: "BurnEventConnection",
  Logs: "a receipt's logs",
  BlockTimes: "a chart's numbers, by REST",
  GasStatistics: "a chart's numbers, by REST",
  ProposerStatistics: "a chart's numbers, by REST",
  ContractAbi: "a file, by REST",
  OpenApi: "REST's description",
  Problem: "GraphQL has errors of its own",
};
const documentSchema = z.object({
  components: z.object({
    schemas: z.record(
      z.string(),
      z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() }),
    ),
  }),
});

t.test("REST and GraphQL have the same fields", async (t) => {
  const routes = createRoutes({ version: "0", publicUrl: "http://localhost", graphqlSchema: () => "" });
  const { schemas } = documentSchema.parse(
    openApiOf({ routes, operations: [], version: "0", servers: [] }),
  ).components;
  const records = Object.entries(schemas).filter(([, { properties }]) => properties !== undefined);
  t.ok(records.length > 20);
  for (const [name, { properties = {} }] of records) {
    const type = schema.getType(name);
    if (name in notInGraphql) {
      t.equal(type, undefined, name);
      continue;
    }
    if (!isObjectType(type)) {
      t.fail(`${name} is in REST only`);
      continue;
    }
    const renamed: Readonly<Record<string, string>> = name === "Block" ? renamedFields.Block : {};
    const beyond = beyondRest[name] ?? [];
    const expected = [...Object.keys(properties).map((field) => renamed[field] ?? field), ...beyond];
    t.same(Object.keys(type.getFields()).toSorted(), [...new Set(expected)].toSorted(), name);
  }
});

t.test("what tools ask the schema is within the limits, and its circles are not", async (t) => {
  const full = getIntrospectionQuery({ descriptions: true, inputValueDeprecation: true, oneOf: true });
  t.equal(findExcess(schema, parse(full, { maxTokens: 1000 })), undefined);
  const circle = `{ __schema { types { fields { type { fields { type { name } } } } } } }`;
  t.match(findExcess(schema, parse(circle)), /circles/);
  const byFragment = `{ __type(name: "Block") { ...T } } fragment T on __Type { fields { type { ofType { ...F } } } }
    fragment F on __Type { fields { type { fields { name } } } }`;
  t.match(findExcess(schema, parse(byFragment)), /circles/);
  const itself = `{ __type(name: "Block") { ...T } } fragment T on __Type { ofType { ...T } }`;
  t.match(findExcess(schema, parse(itself)), /circles|themselves/);
  const often = `{ ${Array.from({ length: 11 }, (_, index) => `a${index}: __schema { types { name } }`).join(" ")} }`;
  t.match(findExcess(schema, parse(often)), /costs at most/);
});
