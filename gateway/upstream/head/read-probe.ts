import type { Probe, ProbeFailure } from "./head-update.ts";
import { readHeader, readQuantity } from "./read-header.ts";
import type { RpcAsked } from "./rpc-client.ts";

/** What the calls of a probe ask for, in order. */
const parts = ["chain ID", "genesis block", "latest block"] as const;

/** Reads chain ID, genesis block and latest block or its number, or says which of them cannot be read. */
export function readProbe(asked: RpcAsked, sentAtMs: number): Probe | ProbeFailure {
  if (asked.kind === "failed") {
    const part = asked.call === undefined ? undefined : parts[asked.call];
    if (part === undefined) return { reason: asked.reason, isUnreadable: false };
    return unreadable(part, "is answered with an error");
  }
  const [chainIdText, genesisBlock, tip] = asked.results;
  const chainId = readQuantity(chainIdText);
  if (chainId === undefined) return unreadable("chain ID", "cannot be read");
  if (genesisBlock === null) return unreadable("genesis block", "is missing");
  const genesis = readHeader(genesisBlock);
  if (genesis === undefined) return unreadable("genesis block", "cannot be read");
  const latest = typeof tip === "string" ? undefined : readHeader(tip);
  const number = latest === undefined ? readQuantity(tip) : latest.number;
  if (number === undefined) return unreadable("latest block", tip === null ? "is missing" : "cannot be read");
  return { chainId, genesis, number, latest, sentAtMs };
}

function unreadable(part: (typeof parts)[number], what: string): ProbeFailure {
  return { reason: `its ${part} ${what}`, isUnreadable: true };
}
