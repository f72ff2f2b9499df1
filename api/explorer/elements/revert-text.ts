import type { TransactionRecord } from "../../records/transaction.ts";

/** Why a call failed, in the contract's own words: a reason, an error with its arguments, else its bytes. */
export function revertText({
  reason,
  error,
  raw,
}: NonNullable<TransactionRecord["revert"]>): string | undefined {
  if (reason !== null) return reason;
  if (error !== null) return `${error.name}(${error.arguments.map(argumentText).join(", ")})`;
  return raw === null || raw === "0x" ? undefined : raw;
}

/** A decoded value as text: a text as it is, a list as JSON. */
export function argumentText({ value }: { value: unknown }): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
