import { toQuantity } from "ethers/utils";
import { z } from "zod";
import { type Block, type Chain, mustRead, showBlock } from "./chain.ts";
import { noInstructions, traceOf } from "./traces.ts";
import { type Pool, readTransaction, showTransaction } from "./transactions.ts";
import type { Proposals } from "./votes.ts";

type Methods = Readonly<Record<string, (params: readonly unknown[]) => RpcAnswer>>;
type AnswerOf = (tag: unknown, show: (block: Block) => unknown) => RpcAnswer;
export type RpcAnswer = { result: unknown } | { error: { code: number; message: string } };

const rangeSchema = z.object({ fromBlock: z.string().optional(), toBlock: z.string().optional() });

/** What the stand-in answers, as recordings of Besu 26.8.0 have it; all else is "Method not found". */
export function createRpc({
  chain,
  pool,
  onSent,
  chainId,
  version,
  proposals,
  peerCount,
  hasTraces,
}: {
  chain: Chain;
  pool: Pool;
  proposals: Proposals;
  /** A transaction that was taken: for the other nodes. */
  onSent: (raw: string) => void;
  chainId: number;
  /** Of Besu, as `web3_clientVersion` has it. */
  version: string;
  peerCount: () => number;
  hasTraces: boolean;
}): (method: string, params: readonly unknown[]) => RpcAnswer {
  const answerOf: AnswerOf = (tag, show) => {
    if (tag === "finalized" || tag === "safe") return { error: { code: -39001, message: "Unknown block" } };
    const number =
      tag === "latest" || tag === "pending" ? chain.height() : tag === "earliest" ? 0 : Number(tag);
    if (typeof tag !== "string" || !Number.isInteger(number)) {
      return { error: { code: -32602, message: "Invalid block number params" } };
    }
    const block = chain.block(number);
    return { result: block === undefined ? null : show(block) };
  };
  const blockAt = (tag: unknown, full: unknown) => answerOf(tag, (block) => showBlock(block, full === true));
  const refuse = (code: number, message: string): RpcAnswer => ({ error: { code, message } });

  /** Besu's refusals that a client can meet with a transaction that is well-formed. */
  function sendRaw(raw: string): RpcAnswer {
    const sent = pool.read(raw);
    if (sent === undefined) return refuse(-32602, "Invalid transaction params");
    const { transaction, from, nonce, hash } = sent;
    if (transaction.chainId !== BigInt(chainId)) return refuse(-32000, "Wrong chainId");
    if (chain.mined(hash) !== undefined || pool.get(hash) !== undefined) {
      return refuse(-32000, "Known transaction");
    }
    if (nonce < chain.nonce(from)) return refuse(-32001, "Nonce too low");
    if (chain.balance(from) < transaction.value) {
      return refuse(-32004, "Upfront cost exceeds account balance");
    }
    pool.add(raw);
    onSent(raw);
    return { result: hash };
  }

  /** There are none, but ranges are checked as Besu checks them. */
  function getLogs(filter: unknown): RpcAnswer {
    const { fromBlock, toBlock } = rangeSchema.safeParse(filter).data ?? {};
    const numberOf = (tag: string | undefined) => (tag?.startsWith("0x") ? Number(tag) : chain.height());
    if (numberOf(fromBlock) > numberOf(toBlock)) return refuse(-32602, "Invalid block range params");
    return { result: [] };
  }

  const methods: Methods = {
    ...nodeMethods({ chainId, version, peerCount }),
    ...voteMethods(proposals),
    // Those of the block's own header: a vote that it carries counts from the next one on.
    ibft_getValidatorsByBlockNumber: ([tag]) =>
      answerOf(tag, (block) => mustRead(block).extraData.validators.toSorted()),
    eth_blockNumber: () => ({ result: toQuantity(chain.height()) }),
    eth_getBlockByNumber: ([tag, full]) => blockAt(tag, full),
    eth_getBlockByHash: ([hash, full]) => {
      const block = chain.byHash(String(hash));
      return { result: block === undefined ? null : showBlock(block, full === true) };
    },
    eth_getLogs: ([filter]) => getLogs(filter),
    eth_getBalance: ([address]) => ({ result: toQuantity(chain.balance(String(address))) }),
    eth_getTransactionCount: ([address, tag]) => {
      const mined = chain.nonce(String(address));
      const own = pool.all().filter(({ from }) => from === String(address).toLowerCase());
      return {
        result: toQuantity(Math.max(mined, ...(tag === "pending" ? own.map(({ nonce }) => nonce + 1) : []))),
      };
    },
    eth_sendRawTransaction: ([raw]) => sendRaw(String(raw)),
    eth_getTransactionByHash: ([hash]) => {
      const done = chain.mined(String(hash));
      const waits = pool.get(String(hash));
      if (done !== undefined)
        return { result: showTransaction(done.sent, { ...done.block, index: done.index }) };
      return { result: waits === undefined ? null : showTransaction(waits) };
    },
    eth_getBlockReceipts: ([tag]) =>
      answerOf(tag, ({ raws }) => raws.map((raw) => receiptOf(chain, pool.read(raw)?.hash ?? ""))),
    eth_getTransactionReceipt: ([hash]) => ({ result: receiptOf(chain, String(hash)) }),
    ...(hasTraces ? traceMethods({ chain, answerOf, refuse }) : {}),
    txpool_besuTransactions: () => ({ result: pool.all().map(({ hash }) => ({ hash })) }),
  };
  return (method, params) =>
    methods[method]?.(params) ?? { error: { code: -32601, message: "Method not found" } };
}

/** Of a chain whose transactions move value alone. */
function traceMethods({
  chain,
  answerOf,
  refuse,
}: {
  chain: Chain;
  answerOf: AnswerOf;
  refuse: (code: number, message: string) => RpcAnswer;
}): Methods {
  const minedOf = (hash: unknown) => chain.mined(String(hash));
  return {
    trace_block: ([tag]) =>
      answerOf(tag, (block) =>
        block.raws.flatMap((raw, index) => {
          const sent = readTransaction(raw);
          return sent === undefined ? [] : [traceOf(sent, { ...block, index })];
        }),
      ),
    trace_transaction: ([hash]) => {
      const done = minedOf(hash);
      return {
        result: done === undefined ? [] : [traceOf(done.sent, { ...done.block, index: done.index })],
      };
    },
    debug_traceTransaction: ([hash]) =>
      minedOf(hash) === undefined ? refuse(-32000, "Transaction not found") : { result: noInstructions },
  };
}

function receiptOf(chain: Chain, hash: string) {
  const done = chain.mined(hash);
  if (done === undefined) return null;
  const { sent, block, index } = done;
  const shown = showTransaction(sent, { ...block, index });
  return {
    ...{ transactionHash: hash, from: shown.from, to: shown.to, type: shown.type },
    ...{ blockHash: block.hash, blockNumber: block.number, transactionIndex: shown.transactionIndex },
    ...{ status: "0x1", gasUsed: toQuantity(21_000), cumulativeGasUsed: toQuantity(21_000 * (index + 1)) },
    ...{
      effectiveGasPrice: shown.gasPrice,
      contractAddress: null,
      logs: [],
      logsBloom: block["logsBloom"],
    },
  };
}

/** What does not depend on the chain. No contract has code, and a call always costs the same. */
function nodeMethods({
  chainId,
  version,
  peerCount,
}: {
  chainId: number;
  version: string;
  peerCount: () => number;
}): Methods {
  return {
    web3_clientVersion: () => ({ result: `besu/v${version}/stand-in` }),
    eth_chainId: () => ({ result: toQuantity(chainId) }),
    net_version: () => ({ result: String(chainId) }),
    net_listening: () => ({ result: true }),
    net_peerCount: () => ({ result: toQuantity(peerCount()) }),
    eth_syncing: () => ({ result: false }),
    // A node that was started without min-gas-price=0, for who looks whether that is noticed.
    eth_gasPrice: () => ({ result: process.env["STAND_IN_GAS_PRICE"] ?? "0x0" }),
    eth_call: () => ({ result: "0x" }),
    eth_estimateGas: () => ({ result: toQuantity(21_000) }),
    eth_maxPriorityFeePerGas: () => ({ result: "0x0" }),
    eth_baseFee: () => ({ result: "0x0" }),
    eth_getCode: () => ({ result: "0x" }),
  };
}

/** Besu takes any address, says true to all of it, and lists what it was told until it is discarded. */
function voteMethods(proposals: Proposals): Methods {
  return {
    ibft_getPendingVotes: () => ({ result: proposals.all() }),
    ibft_proposeValidatorVote: ([address, add]) => {
      proposals.propose(String(address), add === true);
      return { result: true };
    },
    ibft_discardValidatorVote: ([address]) => {
      proposals.discard(String(address));
      return { result: true };
    },
  };
}

/** What `newHeads` brings of a block. */
export function subscriptionText(subscription: string, block: Block): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    method: "eth_subscription",
    params: { subscription, result: showBlock(block, false) },
  });
}
