import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
} from "graphql";
import { pageLimitDefault, pageLimitMax } from "../rest/parameters.ts";

export const costLimits = {
  /** 1 for a field, times `first` of each list above it. */
  costMax: 5000,
  depthMax: 10,
  aliasesMax: 15,
  operationsMax: 1,
  tokensMax: 1000,
} as const;

type Measured = { cost: number; depth: number };

/**
 * A validation rule that refuses a document before it is looked at by others, whose work grows with it. Fragments are
 * measured once each, so a document of few tokens cannot make this work long.
 */
export function limitCost(context: ValidationContext): ASTVisitor {
  const refused = refusalOf(context.getDocument());
  if (refused !== undefined) context.reportError(new GraphQLError(refused));
  return {};
}

/** The cost of a document within the limits, at least 1. */
export function costOf(document: DocumentNode): number {
  return Math.max(1, measureDocument(document)?.cost ?? 1);
}

function refusalOf(document: DocumentNode): string | undefined {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  if (operations > costLimits.operationsMax)
    return `A document has at most ${costLimits.operationsMax} operation`;
  const aliases = countAliases(document);
  if (aliases > costLimits.aliasesMax)
    return `A query has at most ${costLimits.aliasesMax} aliases, not ${aliases}`;
  const measured = measureDocument(document);
  if (measured === undefined) return "Fragments may not use themselves";
  if (measured.depth > costLimits.depthMax)
    return `A query is at most ${costLimits.depthMax} levels deep, not ${measured.depth}`;
  if (measured.cost > costLimits.costMax) {
    return `A query costs at most ${costLimits.costMax}, not ${measured.cost}: each field costs 1, times \`first\` of the lists above it`;
  }
  return undefined;
}

function measureDocument(document: DocumentNode): Measured | undefined {
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );
  const measured = new Map<string, Measured | "open">();
  let total: Measured = { cost: 0, depth: 0 };
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    const found = measure(node.selectionSet, { fragments, measured });
    if (found === undefined) return undefined;
    total = { cost: total.cost + found.cost, depth: Math.max(total.depth, found.depth) };
  }
  return total;
}

type Fragments = {
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  measured: Map<string, Measured | "open">;
};

/** Undefined where a fragment uses itself. */
function measure(set: SelectionSetNode, known: Fragments): Measured | undefined {
  let cost = 0;
  let depth = 0;
  for (const selection of set.selections) {
    const found =
      selection.kind === Kind.FIELD
        ? measureField(selection, known)
        : selection.kind === Kind.INLINE_FRAGMENT
          ? measure(selection.selectionSet, known)
          : measureFragment(selection.name.value, known);
    if (found === undefined) return undefined;
    cost += found.cost;
    depth = Math.max(depth, found.depth);
  }
  return { cost, depth };
}

function measureField(field: FieldNode, known: Fragments): Measured | undefined {
  if (field.selectionSet === undefined) return { cost: 1, depth: 1 };
  const inner = measure(field.selectionSet, known);
  return inner === undefined ? undefined : { cost: 1 + rowsOf(field) * inner.cost, depth: 1 + inner.depth };
}

function measureFragment(name: string, known: Fragments): Measured | undefined {
  const done = known.measured.get(name);
  if (done === "open") return undefined;
  if (done !== undefined) return done;
  const fragment = known.fragments.get(name);
  // Another rule says that it does not exist.
  if (fragment === undefined) return { cost: 0, depth: 0 };
  known.measured.set(name, "open");
  const found = measure(fragment.selectionSet, known);
  if (found !== undefined) known.measured.set(name, found);
  return found;
}

/** How many rows a field can answer: `first` where it has one; a variable may be the most that is allowed. */
function rowsOf({ name, arguments: given = [] }: FieldNode): number {
  const first = given.find((argument) => argument.name.value === "first")?.value;
  if (first?.kind === Kind.INT) return Math.min(Math.max(1, Number(first.value)), pageLimitMax);
  if (first !== undefined) return pageLimitMax;
  return listFields.has(name.value) ? pageLimitDefault : 1;
}

/** Connections, which have a page of rows also where nobody says how many. */
const listFields: ReadonlySet<string> = new Set(["blocks", "transactions", "transfers", "burnEvents"]);

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
