/**
 * Requests that are sent in turn, over and over. They are data, so that the load tool sends exactly what was checked
 * before.
 */
export type Workload = {
  name: WorkloadName;
  /** Its name in the report. */
  title: string;
  callsPerRequest: number;
  requests: readonly WorkloadRequest[];
};

export type WorkloadRequest = {
  /** The keys that its requests carry. */
  keyIndex: number;
  /** JSON; each `{u}` in it stands for twelve hexadecimal digits that no request had before. */
  body: string;
};

export const workloadNames = ["unique", "batch", "keys", "mix"] as const;
export type WorkloadName = (typeof workloadNames)[number];

export const keysCount = 100;
const batchLength = 10;
/** Ids run from 1 to this, since clients count theirs. */
const idsCount = 100;
export const uniqueMark = "{u}";
const addressStart = `0x${"b0".repeat(14)}`;

export const workloads: readonly Workload[] = [
  {
    name: "unique",
    title: "eth_getBalance, each time another address",
    callsPerRequest: 1,
    requests: inTurn(idsCount, (index) => ({ keyIndex: 0, body: balance(index + 1) })),
  },
  {
    name: "batch",
    title: `the same in batches of ${batchLength}`,
    callsPerRequest: batchLength,
    requests: [{ keyIndex: 0, body: `[${inTurn(batchLength, (index) => balance(index + 1)).join(",")}]` }],
  },
  {
    name: "keys",
    title: `the same with ${keysCount} keys in rotation`,
    callsPerRequest: 1,
    requests: inTurn(keysCount, (index) => ({ keyIndex: index, body: balance(index + 1) })),
  },
  {
    name: "mix",
    title: "30 % blockNumber, 30 % call, 20 % balance, 10 % receipt, 10 % chainId; a tenth repeated",
    callsPerRequest: 1,
    requests: mixRequests(),
  },
];

/** `body` with its `{u}` filled in. */
export function fill(body: string, nextUnique: () => string): string {
  return body.replaceAll(uniqueMark, nextUnique);
}

/** Twelve digits: four of the run, which must differ among runs, then a count. */
export function createUnique(run: number): () => string {
  let count = 0;
  return () => {
    count += 1;
    return runDigits(run) + count.toString(16).padStart(8, "0");
  };
}

export function runDigits(run: number): string {
  return (run % 0x10000).toString(16).padStart(4, "0");
}

function balance(id: number, unique = uniqueMark): string {
  return rpc(id, "eth_getBalance", `["${addressStart}${unique}","latest"]`);
}

/** `balanceOf(address)` of a token. */
function tokenBalance(id: number, unique: string): string {
  const data = `0x70a08231${"00".repeat(12)}${"b0".repeat(14)}${unique}`;
  return rpc(id, "eth_call", `[{"to":"0x${"c0".repeat(20)}","data":"${data}"},"latest"]`);
}

function receipt(id: number, unique: string): string {
  return rpc(id, "eth_getTransactionReceipt", `["0x${"d0".repeat(26)}${unique}"]`);
}

function rpc(id: number, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
}

/** One of ten is the same each time; the others are new each time. */
function mixRequests(): WorkloadRequest[] {
  const bodies = inTurn(idsCount, (index) => {
    const id = index + 1;
    // Seven and a hundred have no common divisor: every place comes once, and like requests are spread.
    const place = (index * 7) % idsCount;
    const unique =
      place % 10 === 0 ? `${"0".repeat(10)}${(place / 10).toString().padStart(2, "0")}` : uniqueMark;
    if (place < 30) return rpc(id, "eth_blockNumber", "[]");
    if (place < 60) return tokenBalance(id, unique);
    if (place < 80) return balance(id, unique);
    if (place < 90) return receipt(id, unique);
    return rpc(id, "eth_chainId", "[]");
  });
  return bodies.map((body) => ({ keyIndex: 0, body }));
}

function inTurn<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
