import { z } from "zod";
import { readConfig } from "../../lib/config/read-config.ts";

/** How the gateway treats one method: a line of `config/methods.yaml`, where each field is explained. */
export type MethodRule = {
  name: string;
  permission: "rpc" | "explorer";
  /** Points of the key's limit: `cost`, and one more for each `bytesPerPoint` of parameters. */
  cost: number;
  bytesPerPoint: number;
  /** A call with more bytes of parameters is refused. */
  paramsBytesMax: number;
  cache: "forever" | "head" | "never";
  lane: "light" | "call" | "slow";
  timeoutMs: number;
  /** Whether another validator may be asked once the first may have received the call. */
  mayAskAgain: boolean;
  /** Who answers it: a validator, or a part of the gateway. */
  answeredBy: "validator" | "filters" | "subscriptions";
  /** Where the block parameter stands; undefined for a method without one. `none`: it has no default. */
  block: { at: number | "filter"; missing: "latest" | "pending" | "none" } | undefined;
  /** The member of the result that names its block, which may be later than the announced one. */
  shows: "number" | "blockNumber" | undefined;
  /** What a trace runs, by which its gas is bounded; undefined for other methods. */
  trace: TraceKind | undefined;
  /** How many blocks a filter object may span. */
  blocksMax: { rpc: number; explorer: number } | undefined;
  /** The rule for a filter that spans more than so many blocks: the same, in the slow lane. */
  wide: { aboveBlocks: number; rule: MethodRule } | undefined;
};

/** What a trace runs: calls of its own, raw bytes, or what was mined. */
export type TraceKind = (typeof traceKinds)[number];
export const traceKinds = [
  "call",
  "callMany",
  "debugCall",
  "rawTransaction",
  "rawBlock",
  "transaction",
  "block",
  "range",
] as const;

/** `refused`: known and never forwarded; `unknown`: on no list. Both are -32601 to the client. */
export type MethodLookup = MethodRule | "refused" | "unknown";

export type MethodTable = {
  lookup(method: string): MethodLookup;
  rules: ReadonlyMap<string, MethodRule>;
  /** The names, and the beginnings of names with a `*`, that are known and never forwarded. */
  refused: readonly string[];
  /** Points that a request to the explorer costs. */
  explorerCost: number;
};

/** Reads and checks the method table. @throws ConfigError naming file, line and key. */
export function readMethodTable(file: string): MethodTable {
  const { lanes, bytesPerPoint, paramsBytesMax, explorerCost, methods, refused } = readConfig({
    file,
    schema: tableSchema,
    env: {},
  });
  // A Map, so that names like `__proto__` or `constructor` are names like any other.
  const rules = new Map<string, MethodRule>();
  for (const [name, line] of Object.entries(methods)) {
    const rule: MethodRule = {
      name,
      permission: line.permission,
      cost: line.cost,
      bytesPerPoint: line.bytesPerPoint ?? bytesPerPoint,
      paramsBytesMax: line.paramsBytesMax ?? paramsBytesMax,
      cache: line.cache,
      lane: line.lane,
      timeoutMs: line.timeoutMs ?? lanes[line.lane].timeoutMs,
      mayAskAgain: line.again,
      answeredBy: line.by,
      block: line.block === undefined ? undefined : { at: line.block, missing: line.missing ?? "latest" },
      shows: line.shows,
      trace: line.trace,
      blocksMax: line.rangeMax,
      wide: undefined,
    };
    rules.set(name, line.wideAbove === undefined ? rule : withWide(rule, line.wideAbove));
  }
  function withWide(rule: MethodRule, aboveBlocks: number): MethodRule {
    const slow: MethodRule = { ...rule, lane: "slow", timeoutMs: lanes.slow.timeoutMs };
    return { ...rule, wide: { aboveBlocks, rule: slow } };
  }
  return createMethodTable({ rules, refused, explorerCost });
}

/** A table of what was read before, here or by another process. */
export function createMethodTable({
  rules,
  refused,
  explorerCost,
}: Omit<MethodTable, "lookup">): MethodTable {
  const refusedNames = new Set(refused.filter((name) => !name.endsWith("*")));
  const refusedPrefixes = refused.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  return {
    rules,
    refused,
    explorerCost,
    lookup(method) {
      const rule = rules.get(method);
      if (rule !== undefined) return rule;
      const isRefused =
        refusedNames.has(method) || refusedPrefixes.some((prefix) => method.startsWith(prefix));
      return isRefused ? "refused" : "unknown";
    },
  };
}

const positive = z.int().positive();
const laneSchema = z.strictObject({ timeoutMs: positive });

const tableSchema = z
  .strictObject({
    lanes: z.strictObject({ light: laneSchema, call: laneSchema, slow: laneSchema }),
    bytesPerPoint: positive.default(32_768),
    paramsBytesMax: positive.default(64 * 1024 * 1024),
    explorerCost: positive.default(1),
    methods: z.record(
      z.string().regex(/^[a-z0-9]+_[A-Za-z0-9]+$/, "a method's name is like eth_chainId"),
      z
        .strictObject({
          permission: z.enum(["rpc", "explorer"]),
          cost: positive,
          bytesPerPoint: positive.optional(),
          paramsBytesMax: positive.optional(),
          cache: z.enum(["forever", "head", "never"]),
          lane: z.enum(["light", "call", "slow"]),
          timeoutMs: positive.optional(),
          again: z.boolean().default(true),
          by: z.enum(["validator", "filters", "subscriptions"]).default("validator"),
          block: z.union([z.int().nonnegative(), z.literal("filter")]).optional(),
          missing: z.enum(["latest", "pending", "none"]).optional(),
          shows: z.enum(["number", "blockNumber"]).optional(),
          trace: z.enum(traceKinds).optional(),
          rangeMax: z.strictObject({ rpc: positive, explorer: positive }).optional(),
          wideAbove: positive.optional(),
        })
        .refine((line) => (line.block === undefined) === (line.missing === undefined), {
          message: "`block` and `missing` belong together",
        })
        .refine((line) => line.wideAbove === undefined || line.block === "filter", {
          message: "`wideAbove` needs `block: filter`",
        })
        .refine((line) => line.trace === undefined || (line.lane === "slow" && line.cache === "never"), {
          message: "a trace has `lane: slow` and `cache: never`",
        })
        .refine((line) => line.rangeMax === undefined || line.block === "filter", {
          message: "`rangeMax` needs `block: filter`",
        }),
    ),
    refused: z.array(
      z.string().regex(/^[A-Za-z0-9_]+\*?$/, "a method's name, or the beginning of names and a *"),
    ),
  })
  .check((context) => {
    for (const [index, name] of context.value.refused.entries()) {
      const prefix = name.endsWith("*") ? name.slice(0, -1) : undefined;
      const both = Object.keys(context.value.methods).find((method) =>
        prefix === undefined ? method === name : method.startsWith(prefix),
      );
      if (both === undefined) continue;
      context.issues.push({
        code: "custom",
        input: name,
        path: ["refused", index],
        message: `${both} stands under methods too; it can be forwarded or refused, not both`,
      });
    }
  });
