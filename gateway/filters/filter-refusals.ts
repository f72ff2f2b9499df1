import { refusal } from "../json-rpc/refusal.ts";

// Besu's words and number: clients know a filter that has ended by them, and make it anew.
export const filterNotFound = refusal("filter_not_found", "Filter not found");
export const nobodyAnswered = refusal(
  "upstream_unavailable",
  "No validator answered in time; try again shortly",
);
