import { type SessionServices, sessionOperations } from "../merchant/session/session-operations.ts";
import type { Operation } from "./operation.ts";

/** What the operations are carried out with: each room of the merchant side adds what its own need. */
export type Services = SessionServices;

/** Every operation of REST v1: what changes something, or is for somebody known. */
export const operations: Operation<Services>[] = [...sessionOperations];
