import type { IssuePoint } from "./merchant/api-keys/issue-key.ts";
import type { LedgerPoint } from "./merchant/ledger/ledger-point.ts";

/** Where a test ends the process, because a crash there must not do harm. */
export type CrashPoint = LedgerPoint | IssuePoint;
