import { createServer } from "node:http";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { type Sealing, sealHeader } from "./sealed-chain.ts";

type Json = Record<string, unknown>;
type Call = { id: number; method: string; params: unknown[] };
type Answer = { id: number; result?: unknown; error?: unknown };

export type SealedNetwork = {
  url: string;
  /** Each validator's own RPC; those that are away end every connection. */
  validatorUrls: readonly string[];
};

/**
 * A dev chain as five validators of an IBFT 2.0 network show it: real transactions, receipts and state, in blocks that have
 * real proposers, seals and hashes. The chain behind it may only grow.
 */
export async function startSealedNetwork(
  t: Teardown,
  {
    chainUrl,
    sealingOf,
    isAway = () => false,
    refuses = () => false,
  }: {
    chainUrl: string;
    sealingOf: (number: number) => Sealing;
    /** Whether the validator of this index answers nothing. */
    isAway?: (index: number) => boolean;
    /** Calls that are answered with an error. */
    refuses?: (call: Call) => boolean;
  },
): Promise<SealedNetwork> {
  /** The hashes of blocks: the network's by the chain's, and the other way round. */
  const ofNetwork = new Map<string, string>();
  const ofChain = new Map<string, string>();
  const sealed: Json[] = [];
  let turn: Promise<unknown> = Promise.resolve();

  async function askChain<Asked extends Call | Call[]>(calls: Asked): Promise<unknown> {
    const response = await fetch(chainUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(calls),
    });
    return response.json();
  }

  async function ask(method: string, params: unknown[]): Promise<unknown> {
    return Object(await askChain({ id: 1, method, params, ...version })).result;
  }

  /** Each block's hash contains its parent's: they are sealed from the first on. */
  async function sealNewOnes(): Promise<void> {
    const height = Number(await ask("eth_blockNumber", []));
    for (let number = sealed.length; number <= height; number += 1) {
      const block: Json = Object(await ask("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]));
      const parentHash = sealed.at(-1)?.["hash"] ?? block["parentHash"];
      const { json } = sealHeader({ ...block, parentHash }, sealingOf(number));
      sealed.push(json);
      ofNetwork.set(String(block["hash"]), String(json["hash"]));
      ofChain.set(String(json["hash"]), String(block["hash"]));
    }
  }

  function sealAnswer(call: Call, answer: Answer): Answer {
    if (!call.method.startsWith("eth_getBlockBy") || !isObject(answer.result)) return answer;
    const header = sealed[Number(answer.result["number"])];
    // A list of transactions stays as it was asked for.
    return header === undefined
      ? answer
      : { ...answer, result: { ...header, transactions: answer.result["transactions"] } };
  }

  async function answerTo(text: string): Promise<string> {
    turn = turn.then(sealNewOnes);
    await turn;
    const asked: Call | Call[] = JSON.parse(swap(text, ofChain));
    const calls = [asked].flat();
    const answers: Answer[] = [Object(await askChain(asked))].flat();
    const told = answers.map((answer) => {
      const call = calls.find(({ id }) => id === answer.id);
      if (call === undefined) return answer;
      return refuses(call) ? { id: call.id, ...version, error: refusal } : sealAnswer(call, answer);
    });
    return swap(JSON.stringify(Array.isArray(asked) ? told : told[0]), ofNetwork);
  }

  const server = createServer((request, response) => {
    const index = Number(/^\/validator\/(\d)$/.exec(request.url ?? "")?.[1] ?? -1);
    if (isAway(index)) return void response.destroy();
    // It has no WebSocket, and says so to whoever asks for one.
    if (request.method !== "POST") return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      try {
        const body = await answerTo(Buffer.concat(chunks).toString());
        response.writeHead(200, { "Content-Type": "application/json" }).end(body);
      } catch {
        response.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  return { url, validatorUrls: Array.from({ length: 5 }, (_, index) => `${url}/validator/${index}`) };
}

const refusal = { code: -32603, message: "Internal error" };
const version = { jsonrpc: "2.0" };

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

/** Puts the hashes of one side in the place of the other's, wherever they stand. */
function swap(text: string, hashes: ReadonlyMap<string, string>): string {
  return text.replace(/0x[0-9a-f]{64}/g, (hash) => hashes.get(hash) ?? hash);
}
