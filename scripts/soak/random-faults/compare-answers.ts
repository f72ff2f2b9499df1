import { isObject } from "../../../test/fakes/validators/json.ts";
import { developmentWallet, post } from "../../../test/fakes/validators/rpc.ts";
import type { Validators } from "../../../test/fakes/validators/start-validators.ts";
import { type SoakedGateway, soakKeys } from "../start-gateway.ts";
import type { Actor } from "../steps/run-steps.ts";

type Call = { method: string; params: unknown[] };
type Answered = Call & { resultText: string; isHit: boolean };

/** The only sender and the only receiver, who gets 1 wei each time: nonce and balance of one block must agree. */
const { address: sender } = developmentWallet(2);
const { address: receiver } = developmentWallet(1);

/**
 * Clients that make many calls at once and compare the answers: those of one batch are of one block, no batch goes back
 * behind the one before, and a cached answer is a validator's answer at that block.
 */
export function createComparison({
  broken,
  sent,
}: {
  broken: string[];
  /** Hashes of the transactions sent so far. */
  sent: readonly string[];
}) {
  const { qa: qaKey } = soakKeys();
  /** Cached answers by their call, in which the block stands as a number. */
  const hits = new Map<string, Set<string>>();
  let hitCount = 0;
  let startBalance: bigint | undefined;

  /** One batch a turn. */
  async function* keepComparing(gateway: SoakedGateway, random: () => number): Actor {
    const receipts = new Map<string, string>();
    let before = { number: 0n, nonce: 0n };
    let mined = 0n;
    for (; ; yield) {
      const hash = sent[Math.floor(random() * sent.length)];
      const answers = await askAll(gateway, callsOf(hash, before.number), qaKey);
      if (answers === undefined) continue;
      const [number = 0n, nonce = 0n, balance = 0n] = answers
        .slice(0, 3)
        .map(({ resultText }) => quantity(resultText));
      const blockText = answers[3]?.resultText ?? "";
      const where = `at ${number}, ${before.number} before`;
      if (number < before.number || number < mined)
        broken.push(`the number went back ${where}, ${mined} was mined`);
      if (nonce < before.nonce) broken.push(`the nonce went back from ${before.nonce} to ${nonce} ${where}`);
      startBalance ??= balance - nonce;
      if (balance - nonce !== startBalance) {
        broken.push(`balance ${balance} and nonce ${nonce} are of different blocks ${where}`);
      }
      if (!blockText.includes(`"number":"0x${number.toString(16)}"`)) {
        broken.push(`the latest block is another one ${where}: ${blockText.slice(0, 60)}`);
      }
      before = { number, nonce };
      mined = noteReceipt({ hash, text: answers[7]?.resultText, receipts, mined });
      for (const answer of answers) noteHit(answer, number);
    }
  }

  function noteReceipt({
    hash,
    text,
    receipts,
    mined,
  }: {
    hash: string | undefined;
    text: string | undefined;
    receipts: Map<string, string>;
    mined: bigint;
  }): bigint {
    if (hash === undefined || text === undefined) return mined;
    const known = receipts.get(hash);
    if (known !== undefined && known !== text) broken.push(`a receipt changed from ${known} to ${text}`);
    if (text === "null") return mined;
    receipts.set(hash, text);
    const number = quantity(/"blockNumber":("0x[0-9a-f]+")/.exec(text)?.[1] ?? "0");
    return number > mined ? number : mined;
  }

  function noteHit({ method, params, resultText, isHit }: Answered, number: bigint): void {
    // The gateway answers eth_blockNumber itself.
    if (!isHit || method === "eth_blockNumber") return;
    hitCount += 1;
    const call = JSON.stringify({ method, params: params.map((param) => atNumber(param, number)) });
    const texts = hits.get(call) ?? new Set();
    hits.set(call, texts.add(resultText));
  }

  return {
    keepComparing,

    /** Compares each cached answer with the validators'. @returns how many there were. */
    async compareHits({ urls }: Pick<Validators, "urls">): Promise<number> {
      const calls = [...hits.keys()];
      const truths = await Promise.all(urls.map((url) => askValidator(url, calls)));
      for (const [index, call] of calls.entries()) {
        // `extraData` holds the seals that this validator saw, so the five may differ and all be right.
        const possible = new Set(truths.map((answers) => answers[index]));
        for (const text of hits.get(call) ?? []) {
          if (!possible.has(text))
            broken.push(`the cache answered ${text} to ${call}: ${[...possible].join(" or ")}`);
        }
      }
      return hitCount;
    },
  };
}

function callsOf(hash: string | undefined, number: bigint): Call[] {
  const earlier = `0x${(number > 3n ? number - 3n : 0n).toString(16)}`;
  return [
    { method: "eth_blockNumber", params: [] },
    { method: "eth_getTransactionCount", params: [sender, "latest"] },
    { method: "eth_getBalance", params: [receiver, null] },
    { method: "eth_getBlockByNumber", params: ["safe", false] },
    { method: "eth_call", params: [{ to: receiver, data: "0x" }, "finalized"] },
    { method: "eth_getBalance", params: [receiver, earlier] },
    { method: "eth_getLogs", params: [{ fromBlock: earlier, address: receiver }] },
    ...(hash === undefined ? [] : [{ method: "eth_getTransactionReceipt", params: [hash] }]),
    ...(hash === undefined ? [] : [{ method: "eth_getTransactionByHash", params: [hash] }]),
  ];
}

/** The parameter with the number of the block that answered. */
function atNumber(param: unknown, number: bigint): unknown {
  const latest = `0x${number.toString(16)}`;
  if (isObject(param) && param["fromBlock"] !== undefined) return { ...param, toBlock: latest };
  return param === null || ["latest", "safe", "finalized"].includes(String(param)) ? latest : param;
}

async function askAll(gateway: SoakedGateway, calls: Call[], key: string): Promise<Answered[] | undefined> {
  const body = calls.map((call, index) => ({ jsonrpc: "2.0", id: index, ...call }));
  const { headers, text } = await gateway.post(body, { key });
  const sources = headers.get("x-tollgate-cache")?.split(", ") ?? [];
  const results = readResults(text);
  // The readers beside these check errors.
  if (results.length !== calls.length || results.includes(undefined)) return undefined;
  return calls.map((call, index) => ({
    ...call,
    resultText: results[index] ?? "",
    isHit: sources[index] === "hit",
  }));
}

async function askValidator(url: string, calls: readonly string[]): Promise<(string | undefined)[]> {
  const answers: (string | undefined)[] = [];
  const atOnce = 100;
  for (let start = 0; start < calls.length; start += atOnce) {
    const items = calls
      .slice(start, start + atOnce)
      .map((call, index) => `{"jsonrpc":"2.0","id":${index},${call.slice(1)}`);
    answers.push(...readResults((await post(url, `[${items.join(",")}]`)).text));
  }
  return answers;
}

/** The text of each result, in order; undefined for an error. */
function readResults(text: string): (string | undefined)[] {
  const answers: unknown = JSON.parse(text);
  if (!Array.isArray(answers)) return [];
  return answers.map((answer) =>
    isObject(answer) && "result" in answer ? JSON.stringify(answer["result"]) : undefined,
  );
}

function quantity(text: string): bigint {
  return BigInt(String(JSON.parse(text)));
}
