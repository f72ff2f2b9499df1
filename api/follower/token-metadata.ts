import { z } from "zod";
import type { RpcAnswer, RpcClient } from "../../lib/chain/rpc-client.ts";
import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import { hexQuantity } from "../../lib/chain/rpc-values.ts";
import type { TokenTransfer } from "../chain/token-transfers.ts";

export type NewToken = { address: string; kind: TokenTransfer["kind"] };
/** What a contract says of itself: null where it says nothing usable. */
export type TokenMetadata = { name: string | null; symbol: string | null; decimals: number | null };

const selectors = { name: "0x06fdde03", symbol: "0x95d89b41", decimals: "0x313ce567" } as const;
/**
 * Enough for a proxy that reads a long text from storage. It bounds what a contract that loops can cost, and what one that
 * answers zeros can return: 250 KB, since memory is paid for with the square of its size.
 */
const gasMax = 150_000n;
/** Tokens a request: 30 of the longest answers stay below what the client takes. */
const tokensAtOnce = 10;
const nameLengthMax = 100;
const symbolLengthMax = 32;

/**
 * Asks contracts for their name, symbol and decimals. Whoever wrote them chose what they answer: what reverts, is cut off,
 * or is no text counts as no answer; texts are cut and cleaned.
 *
 * @throws ChainUnavailableError where the chain cannot be asked. A gateway's refusal of one call is that too, unless
 * `isLastTry` and calls of other contracts are answered: then the contract is to blame, and it counts as no answer.
 */
export async function readTokenMetadata({
  rpc,
  tokens,
  isLastTry = false,
}: {
  rpc: Pick<RpcClient, "askAll">;
  tokens: readonly NewToken[];
  isLastTry?: boolean;
}): Promise<TokenMetadata[]> {
  const found: TokenMetadata[] = [];
  for (let at = 0; at < tokens.length; at += tokensAtOnce) {
    const some = tokens.slice(at, at + tokensAtOnce);
    const answers = await rpc.askAll(
      some.flatMap(({ address }) =>
        Object.values(selectors).map((data) => ({
          method: "eth_call",
          params: [{ to: address, data, gas: hexQuantity(gasMax) }, "latest"],
        })),
      ),
    );
    if (isLastTry && answers.some(isOfGateway)) await checkCalls(rpc);
    for (const [index, { kind }] of some.entries()) {
      const [name, symbol, decimals] = answers
        .slice(3 * index, 3 * index + 3)
        .map((answer) => returnedBytes(answer, isLastTry));
      found.push({
        name: readText(name, nameLengthMax),
        symbol: readText(symbol, symbolLengthMax),
        decimals: kind === "erc20" ? readDecimals(decimals) : null,
      });
    }
  }
  return found;
}

function isOfGateway(answer: RpcAnswer): boolean {
  return "error" in answer && answer.error.ofGateway;
}

/** An account without code answers each call with nothing, and costs nothing. */
async function checkCalls(rpc: Pick<RpcClient, "askAll">): Promise<void> {
  const to = `0x${"00".repeat(20)}`;
  const answers = await rpc.askAll([{ method: "eth_call", params: [{ to, data: "0x" }, "latest"] }]);
  if (answers.some(isOfGateway)) throw new ChainUnavailableError("no contract can be asked for its name");
}

const hexBytes = z.string().regex(/^0x(?:[0-9a-f]{2})*$/i);

function returnedBytes(answer: RpcAnswer | undefined, isLastTry: boolean): Buffer | undefined {
  if (answer === undefined) return undefined;
  if ("error" in answer) {
    if (!answer.error.ofGateway || isLastTry) return undefined;
    throw new ChainUnavailableError(`a token cannot be asked for its name: ${answer.error.message}`);
  }
  const read = hexBytes.safeParse(answer.result);
  return read.success ? Buffer.from(read.data.slice(2), "hex") : undefined;
}

const wordBytes = 32;

/** `string` of the contract ABI; old tokens return `bytes32`, filled up with zeros. */
function readText(bytes: Buffer | undefined, lengthMax: number): string | null {
  if (bytes === undefined) return null;
  if (bytes.length === wordBytes) return cleanText(bytes, lengthMax);
  const offset = readLength(bytes, 0);
  const length = offset === undefined ? undefined : readLength(bytes, offset);
  if (offset === undefined || length === undefined) return null;
  const start = offset + wordBytes;
  if (start + length > bytes.length) return null;
  // A character takes four bytes at most.
  return cleanText(bytes.subarray(start, start + Math.min(length, 4 * lengthMax)), lengthMax);
}

/** A word that says where something stands or how long it is, within what was returned. */
function readLength(bytes: Buffer, at: number): number | undefined {
  if (at + wordBytes > bytes.length) return undefined;
  const value = BigInt(`0x${bytes.toString("hex", at, at + wordBytes)}`);
  return value <= BigInt(bytes.length) ? Number(value) : undefined;
}

function readDecimals(bytes: Buffer | undefined): number | null {
  if (bytes === undefined || bytes.length < wordBytes) return null;
  const value = BigInt(`0x${bytes.toString("hex", 0, wordBytes)}`);
  return value <= 255n ? Number(value) : null;
}

/** Control characters (NUL, which PostgreSQL's text cannot hold, among them) and marks that turn a line's direction. */
const unwanted = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

function cleanText(bytes: Buffer, lengthMax: number): string | null {
  const text = new TextDecoder().decode(bytes).replace(unwanted, "").trim();
  // By characters, so that none is cut in half.
  const cut = Array.from(text).slice(0, lengthMax).join("");
  return cut === "" ? null : cut;
}
