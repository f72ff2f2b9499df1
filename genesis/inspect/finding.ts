/**
 * Something about a genesis file that its owner should know. A problem keeps the network from starting or from being
 * what it should; a remark may be intended.
 */
export type Finding = { kind: "problem" | "remark"; text: string };

export function problem(text: string): Finding {
  return { kind: "problem", text };
}

export function remark(text: string): Finding {
  return { kind: "remark", text };
}
