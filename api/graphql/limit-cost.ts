import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from "graphql";
import { pageLimitDefault, pageLimitMax } from "../rest/parameters.ts";
import { isCircular } from "./introspection.ts";

export const costLimits = {
  /** 1 for a field and 100 for each call of the chain that it makes, times `first` of each list above it. */
  costMax: 5000,
  depthMax: 10,
  aliasesMax: 15,
  operationsMax: 1,
  tokensMax: 1000,
} as const;

/** So that 5 calls cost a point of the limit, of which REST takes one for a record. */
const costPerCall = 100;
/** What GraphiQL and code generators ask for, at any depth: about 90 kB and 5 ms. */
const costOfIntrospection = 500;

/** Calls of the chain, or queries as dear as one, that a field makes: said where the field is defined. */
export const calls = (count: number) => ({ extensions: { calls: count } });

type Measured = { cost: number; depth: number };

/** The cost of a document within the limits, at least 1. */
export function costOf(schema: GraphQLSchema, document: DocumentNode): number {
  return Math.max(1, measureDocument(schema, document)?.cost ?? 1);
}

/**
 * Why a document is refused before anything else looks at it: the work of validation grows with what it holds. Fragments
 * are measured once each, so a document of few tokens cannot make this work long.
 */
export function findExcess(schema: GraphQLSchema, document: DocumentNode): string | undefined {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  if (operations > costLimits.operationsMax)
    return `A document has at most ${costLimits.operationsMax} operation`;
  const aliases = countAliases(document);
  if (aliases > costLimits.aliasesMax)
    return `A query has at most ${costLimits.aliasesMax} aliases, not ${aliases}`;
  const measured = measureDocument(schema, document);
  if (measured === undefined) return "Fragments may not use themselves";
  if (measured.cost === Number.POSITIVE_INFINITY) return "The schema may not be asked for in circles";
  if (measured.depth > costLimits.depthMax)
    return `A query is at most ${costLimits.depthMax} levels deep, not ${measured.depth}`;
  if (measured.cost > costLimits.costMax) {
    return `A query costs at most ${costLimits.costMax}, not ${measured.cost}: each field costs 1, and ${costPerCall} for each call of the chain, times \`first\` of the lists above it`;
  }
  return undefined;
}

type Known = {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  measured: Map<string, Measured | "open">;
};

function measureDocument(schema: GraphQLSchema, document: DocumentNode): Measured | undefined {
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );
  const known: Known = { schema, fragments, measured: new Map() };
  const query = schema.getQueryType() ?? undefined;
  // All of them, since what a document holds is looked at by other rules, whether or not the operation uses it.
  const all = document.definitions.map((node) => {
    if (node.kind === Kind.OPERATION_DEFINITION) return measure(node.selectionSet, query, known);
    return node.kind === Kind.FRAGMENT_DEFINITION ? measureUnused(node.name.value, known) : nothing;
  });
  let total: Measured = nothing;
  for (const found of all) {
    if (found === undefined) return undefined;
    total = { cost: total.cost + found.cost, depth: Math.max(total.depth, found.depth) };
  }
  return total;
}

const nothing: Measured = { cost: 0, depth: 0 };

/** A fragment costs where it is used; a circle is one also where nobody uses it. */
function measureUnused(name: string, known: Known): Measured | undefined {
  return measureFragment(name, known) === undefined ? undefined : nothing;
}

/** Undefined where a fragment uses itself. */
function measure(
  set: SelectionSetNode,
  type: GraphQLNamedType | undefined,
  known: Known,
): Measured | undefined {
  let cost = 0;
  let depth = 0;
  for (const selection of set.selections) {
    const found =
      selection.kind === Kind.FIELD
        ? measureField(selection, type, known)
        : selection.kind === Kind.INLINE_FRAGMENT
          ? measure(selection.selectionSet, narrowed(type, selection.typeCondition?.name.value, known), known)
          : measureFragment(selection.name.value, known);
    if (found === undefined) return undefined;
    cost += found.cost;
    depth = Math.max(depth, found.depth);
  }
  return { cost, depth };
}

function measureField(
  node: FieldNode,
  type: GraphQLNamedType | undefined,
  known: Known,
): Measured | undefined {
  if (node.name.value === "__schema" || node.name.value === "__type") {
    return {
      cost: isCircular(node, known.fragments) ? Number.POSITIVE_INFINITY : costOfIntrospection,
      depth: 1,
    };
  }
  // Another rule says that there is no such field.
  const field = isObjectType(type) ? type.getFields()[node.name.value] : undefined;
  const own = 1 + costPerCall * callsOf(field);
  if (node.selectionSet === undefined) return { cost: own, depth: 1 };
  const inner = measure(node.selectionSet, field && getNamedType(field.type), known);
  if (inner === undefined) return undefined;
  return { cost: own + rowsOf(node, field) * inner.cost, depth: 1 + inner.depth };
}

function measureFragment(name: string, known: Known): Measured | undefined {
  const done = known.measured.get(name);
  if (done === "open") return undefined;
  if (done !== undefined) return done;
  const fragment = known.fragments.get(name);
  // Another rule says that it does not exist.
  if (fragment === undefined) return nothing;
  known.measured.set(name, "open");
  const type = narrowed(undefined, fragment.typeCondition.name.value, known);
  const found = measure(fragment.selectionSet, type, known);
  if (found !== undefined) known.measured.set(name, found);
  return found;
}

function narrowed(
  type: GraphQLNamedType | undefined,
  condition: string | undefined,
  { schema }: Known,
): GraphQLNamedType | undefined {
  return condition === undefined ? type : schema.getType(condition);
}

function callsOf(field: GraphQLField<unknown, unknown> | undefined): number {
  const count = field?.extensions["calls"];
  return typeof count === "number" ? count : 0;
}

/** How many rows a field can answer: `first` where it has one; a variable may be the most that is allowed. */
function rowsOf(
  { arguments: given = [] }: FieldNode,
  field: GraphQLField<unknown, unknown> | undefined,
): number {
  const first = given.find((argument) => argument.name.value === "first")?.value;
  if (first?.kind === Kind.INT) return Math.min(Math.max(1, Number(first.value)), pageLimitMax);
  if (first !== undefined) return pageLimitMax;
  return field?.args.some(({ name }) => name === "first") === true ? pageLimitDefault : 1;
}

function countAliases(document: DocumentNode): number {
  let aliases = 0;
  const look = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD && selection.alias !== undefined) aliases += 1;
      if (selection.kind !== Kind.FRAGMENT_SPREAD) look(selection.selectionSet);
    }
  };
  for (const node of document.definitions) {
    if (node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION)
      look(node.selectionSet);
  }
  return aliases;
}
