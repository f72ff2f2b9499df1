import { hash } from "node:crypto";

/**
 * The chain that the stub validators are on. It is computed, not stored: every stub has the same block at the same
 * moment, and every answer about an account or a transaction follows from its parameters, so that it can be checked.
 */
export type StubChain = {
  /** Number of the block that is the latest now. */
  latest(): number;
  /** The `result` of a call; undefined for a method that the stubs do not know. */
  resultOf(method: string, params: readonly unknown[]): unknown;
};

const blockTimeMs = 2000;
/** Blocks that were there before the start, so that numbers have more than one digit. */
const firstLatest = 4096;

/** @param startedAtMs Unix milliseconds; stubs that are to agree get the same. */
export function createStubChain({
  startedAtMs,
  now = Date.now,
}: {
  startedAtMs: number;
  now?: () => number;
}): StubChain {
  const latest = () => firstLatest + Math.floor((now() - startedAtMs) / blockTimeMs);

  function block(number: number): object | null {
    if (!(number <= latest())) return null;
    return {
      number: toHex(number),
      hash: blockHash(number),
      parentHash: number === 0 ? `0x${"00".repeat(32)}` : blockHash(number - 1),
      timestamp: toHex(Math.floor(startedAtMs / 1000) + 2 * (number - firstLatest)),
      logsBloom: noLogs,
      transactions: [],
    };
  }

  const methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_chainId: () => "0x228d",
    eth_blockNumber: () => toHex(latest()),
    eth_getBlockByNumber: ([wanted]) => block(wanted === "latest" ? latest() : Number(wanted)),
    eth_getBalance: ([address]) => balanceOf(String(address)),
    eth_call: ([call]) => callResult(call),
    eth_getTransactionReceipt: ([transactionHash]) => receiptOf(String(transactionHash)),
  };
  return { latest, resultOf: (method, params) => methods[method]?.(params) };
}

/** An account's balance: its address's last six bytes behind a 1, since a quantity has no leading zeros. */
function balanceOf(address: string): string {
  return `0x1${address.slice(-12)}`;
}

/** A word as a contract would return it: the last six bytes of what it was called with. */
function callResult(call: unknown): string {
  const data = typeof call === "object" && call !== null && "data" in call ? String(call.data) : "0x";
  return `0x${data.slice(-12).padStart(64, "0")}`;
}

function receiptOf(transactionHash: string): object {
  return {
    blockHash: blockHash(1),
    blockNumber: "0x1",
    contractAddress: null,
    cumulativeGasUsed: "0x5208",
    effectiveGasPrice: "0x0",
    from: `0x${transactionHash.slice(-40)}`,
    gasUsed: "0x5208",
    logs: [],
    logsBloom: noLogs,
    status: "0x1",
    to: `0x${transactionHash.slice(2, 42)}`,
    transactionHash,
    transactionIndex: "0x0",
    type: "0x0",
  };
}

const noLogs = `0x${"00".repeat(256)}`;

function blockHash(number: number): string {
  return `0x${hash("sha256", `block ${number}`)}`;
}

function toHex(number: number): string {
  return `0x${number.toString(16)}`;
}
