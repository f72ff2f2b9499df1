import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../../test/fakes/validators/json.ts";
import { developmentWallet, post } from "../../../test/fakes/validators/rpc.ts";
import type { Validators } from "../../../test/fakes/validators/start-validators.ts";
import { type GatewayUnderTest, qaKey } from "../../../test/helpers/gateway.ts";

type Question = { method: string; params: unknown[] };
type Answered = Question & { resultText: string; isHit: boolean };

/** The sender of all transactions, and the one who gets 1 wei with each: so two answers of one block tell the same. */
const { address: sender } = developmentWallet(2);
const { address: receiver } = developmentWallet(1);

/**
 * Clients that ask for much at once and compare: within a batch all answers are of one block, from one batch to the next
 * nothing goes back, and what came from memory is what a validator answers at that block.
 */
export function createComparison({
  broken,
  sent,
  isOver,
  random,
}: {
  broken: string[];
  /** Hashes of transactions as they are sent. */
  sent: readonly string[];
  isOver: () => boolean;
  random: () => number;
}) {
  /** Answers from memory by their question, its block named by number. */
  const hits = new Map<string, Set<string>>();
  let hitCount = 0;
  let startBalance: bigint | undefined;

  async function keepComparing(gateway: GatewayUnderTest): Promise<void> {
    const receipts = new Map<string, string>();
    let before = { number: 0n, nonce: 0n };
    let mined = 0n;
    while (!isOver()) {
      const hash = sent[Math.floor(random() * sent.length)];
      const answers = await askAll(gateway, questions(hash, before.number));
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
      await sleep(random() * 10);
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
    // The number itself is the gateway's own answer.
    if (!isHit || method === "eth_blockNumber") return;
    hitCount += 1;
    const question = JSON.stringify({ method, params: params.map((param) => atNumber(param, number)) });
    const texts = hits.get(question) ?? new Set();
    hits.set(question, texts.add(resultText));
  }

  return {
    keepComparing,

    /** Compares each answer that came from memory with the validators', and tells how many that were. */
    async compareHits({ urls }: Pick<Validators, "urls">): Promise<number> {
      const questions = [...hits.keys()];
      const truths = await Promise.all(urls.map((url) => askValidator(url, questions)));
      for (const [index, question] of questions.entries()) {
        // A block's `extraData` holds the seals that its validator saw: each of the five may be right.
        const possible = new Set(truths.map((answers) => answers[index]));
        for (const text of hits.get(question) ?? []) {
          if (!possible.has(text))
            broken.push(`memory answered ${text} to ${question}: ${[...possible].join(" or ")}`);
        }
      }
      return hitCount;
    },
  };
}

function questions(hash: string | undefined, number: bigint): Question[] {
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

/** The question with its block's number, as it was answered. */
function atNumber(param: unknown, number: bigint): unknown {
  const latest = `0x${number.toString(16)}`;
  if (isObject(param) && param["fromBlock"] !== undefined) return { ...param, toBlock: latest };
  return param === null || ["latest", "safe", "finalized"].includes(String(param)) ? latest : param;
}

async function askAll(gateway: GatewayUnderTest, questions: Question[]): Promise<Answered[] | undefined> {
  const body = questions.map((question, index) => ({ jsonrpc: "2.0", id: index, ...question }));
  const { headers, text } = await gateway.post(body, { key: qaKey });
  const sources = headers.get("x-tollgate-cache")?.split(", ") ?? [];
  const results = readResults(text);
  // Errors are what the readers beside these look for.
  if (results.length !== questions.length || results.includes(undefined)) return undefined;
  return questions.map((question, index) => ({
    ...question,
    resultText: results[index] ?? "",
    isHit: sources[index] === "hit",
  }));
}

async function askValidator(url: string, questions: readonly string[]): Promise<(string | undefined)[]> {
  const answers: (string | undefined)[] = [];
  const atOnce = 100;
  for (let start = 0; start < questions.length; start += atOnce) {
    const items = questions
      .slice(start, start + atOnce)
      .map((question, index) => `{"jsonrpc":"2.0","id":${index},${question.slice(1)}`);
    answers.push(...readResults((await post(url, `[${items.join(",")}]`)).text));
  }
  return answers;
}

/** The results as their texts, in order; undefined for an error. */
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
