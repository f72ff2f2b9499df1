import type { NetworkNode, Nodes } from "../nodes.ts";

/** All that are Besu, the trace node last: nobody waits for it. */
export function besuNodes({ list, traceNode }: Pick<Nodes, "list" | "traceNode">): readonly NetworkNode[] {
  return [...list, ...(traceNode === undefined ? [] : [traceNode])];
}
