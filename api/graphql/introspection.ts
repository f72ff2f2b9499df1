import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from "graphql";

/** Lists that lead from a type to types again. */
const lists: ReadonlySet<string> = new Set(["types", "fields", "interfaces", "possibleTypes", "inputFields"]);
/** `types { fields { … } }` says everything; each further list inside multiplies the answer by its length. */
const listsMax = 2;

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Whether a question for the schema goes from types to their fields and on to the fields of those. */
export function isCircular(node: FieldNode, fragments: Fragments): boolean {
  const measured = new Map<string, number>();

  /** How many lists stand inside each other at most. */
  function listsOf({ name, selectionSet }: FieldNode): number {
    const own = lists.has(name.value) ? 1 : 0;
    return own + (selectionSet === undefined ? 0 : listsInside(selectionSet));
  }

  function listsInside({ selections }: SelectionSetNode): number {
    const each = selections.map((selection) => {
      if (selection.kind === Kind.FIELD) return listsOf(selection);
      if (selection.kind === Kind.INLINE_FRAGMENT) return listsInside(selection.selectionSet);
      return listsOfFragment(selection.name.value);
    });
    return Math.max(0, ...each);
  }

  function listsOfFragment(name: string): number {
    const known = measured.get(name);
    if (known !== undefined) return known;
    // What it is while it is being measured: a fragment that uses itself has no end.
    measured.set(name, Number.POSITIVE_INFINITY);
    const fragment = fragments.get(name);
    const found = fragment === undefined ? 0 : listsInside(fragment.selectionSet);
    measured.set(name, found);
    return found;
  }

  return listsOf(node) > listsMax;
}
