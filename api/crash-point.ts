import type { IssuePoint } from "./merchant/api-keys/issue-key.ts";
import type { LedgerPoint } from "./merchant/ledger/ledger-point.ts";
import type { DeliveryPoint } from "./merchant/webhooks/delivery-worker.ts";

/** Where a test ends the process, because a crash there must not do harm. */
export type CrashPoint = LedgerPoint | IssuePoint | DeliveryPoint;
