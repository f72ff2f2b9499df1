/** Between two steps of a round, where a crash must not do harm. */
export type LedgerPoint = "read" | "in transaction" | "before commit" | "booked";
