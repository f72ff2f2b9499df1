import type { Fault, FaultKind } from "../request.ts";

export type ErrorRow = {
  kind: FaultKind;
  code: string;
  /** Calls that ended so. */
  calls: number;
  /** The first one: what was asked, and what was said. */
  example: { method: string; message: string };
};

/** Codes come from the other side; more different ones than this are counted together. */
const rowsMax = 100;
const otherCode = "others";

/** Counts faults by kind and code, with the first of each as an example. */
export function createErrorTable() {
  const rows = new Map<string, ErrorRow>();
  let failed = 0;
  return {
    add({ kind, code: given, method, message, calls }: Fault): void {
      failed += calls;
      const code = rows.size < rowsMax || rows.has(`${kind} ${given}`) ? given : otherCode;
      const row = rows.get(`${kind} ${code}`);
      if (row === undefined) rows.set(`${kind} ${code}`, { kind, code, calls, example: { method, message } });
      else row.calls += calls;
    },
    failed: () => failed,
    /** Most frequent first. */
    rows: (): ErrorRow[] => [...rows.values()].sort((left, right) => right.calls - left.calls),
  };
}
