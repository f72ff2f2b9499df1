import { z } from "zod";
import { address, bytes, hash, hexQuantity, quantity, wei } from "../../../lib/chain/rpc-values.ts";
import { network } from "../../../lib/network.ts";
import type { ChainQuestions } from "./chain-questions.ts";
import type { PaymentJudge } from "./judge-payment.ts";
import type { Outcome } from "./outcome.ts";
import {
  blockExpected,
  createBlockParameter,
  feeBlocks,
  feeBlocksExpected,
  percentiles,
  percentilesExpected,
  type TransactionCall,
  transactionCall,
  transactionCallExpected,
} from "./parameters.ts";
import { method, type PayerMethod } from "./payer-method.ts";
import { gasMax } from "./read-transaction.ts";
import type { SendTransaction } from "./send-transaction.ts";

/** A whole block is as long as its transactions, and costs its client so many calls. */
export const wholeBlockPoints = 10;

/** What a call costs of its client's limit. */
export function pointsOf({ method, params }: { method: string; params: readonly unknown[] }): number {
  return method.startsWith("eth_getBlockBy") && params[1] === true ? wholeBlockPoints : 1;
}

/**
 * What a wallet asks to pay, and nothing else: each method is here because ethers, viem, web3.js, web3.py, cast or MetaMask
 * calls it when it learns of a network, fills in a transaction, sends it or waits for it (test/api/merchant/payer-rpc holds
 * the first five to it; MetaMask's calls are those that its issue 15372 recorded). MetaMask also asks contracts what
 * they are (ERC-165) and goes on when that is refused.
 */
export function createMethods({
  questions,
  judge,
  send,
  head,
}: {
  questions: ChainQuestions;
  judge: PaymentJudge;
  send: SendTransaction;
  /** The newest block's number; undefined while it is not known. */
  head: () => number | undefined;
}): ReadonlyMap<string, PayerMethod> {
  const { ask, askForAll, within, put } = questions;
  const block = createBlockParameter({ head });
  const at = block.nullish().transform((given) => given ?? "latest");
  const none = z.tuple([]);

  return new Map<string, PayerMethod>([
    // Which network this is: asked first by all, and again before each transaction.
    ["eth_chainId", method([], none, async () => own(hexQuantity(network.chainId)))],
    ["net_version", method([], none, async () => own(String(network.chainId)))],
    // web3.py asks for it to see whether there is somebody.
    ["web3_clientVersion", method([], none, async () => own("Tollgate/payer-rpc"))],

    // The newest block: how wallets wait, and where fees begin.
    [
      "eth_blockNumber",
      method([], none, () => askForAll({ method: "eth_blockNumber", params: [], result: quantity })),
    ],
    [
      "eth_getBlockByNumber",
      method([blockExpected, aBoolean], z.tuple([block, z.boolean().nullish()]), ([number, isWhole]) =>
        askForAll({
          method: "eth_getBlockByNumber",
          params: [number, isWhole ?? false],
          result: blockAt(number),
        }),
      ),
    ],
    [
      "eth_getBlockByHash",
      method([aHash, aBoolean], z.tuple([hash, z.boolean().nullish()]), ([of, isWhole]) =>
        askForAll({
          method: "eth_getBlockByHash",
          params: [of, isWhole ?? false],
          result: recordOf("hash", of),
        }),
      ),
    ],
    ["eth_gasPrice", method([], none, () => askForAll({ method: "eth_gasPrice", params: [], result: wei }))],
    [
      "eth_maxPriorityFeePerGas",
      method([], none, () => askForAll({ method: "eth_maxPriorityFeePerGas", params: [], result: wei })),
    ],
    [
      "eth_feeHistory",
      method(
        [feeBlocksExpected, blockExpected, percentilesExpected],
        z.tuple([feeBlocks, block, percentiles]),
        (params) => askForAll({ method: "eth_feeHistory", params, result: feeHistory }),
      ),
    ],

    // The account that pays, and what it pays to.
    ["eth_getBalance", ofAccount("eth_getBalance", wei)],
    ["eth_getTransactionCount", ofAccount("eth_getTransactionCount", quantity)],
    ["eth_getCode", ofAccount("eth_getCode", bytes)],

    // The payment, tried, sent and waited for.
    [
      "eth_estimateGas",
      method(
        [transactionCallExpected, blockExpected],
        z.tuple([transactionCall, block.nullish()]),
        ([call]) =>
          within(
            async () =>
              (await judge.payment(call)) ??
              put({ method: "eth_estimateGas", params: [bounded(call)], result: quantity }),
          ),
      ),
    ],
    [
      "eth_call",
      method([transactionCallExpected, blockExpected], z.tuple([transactionCall, at]), ([call, where]) =>
        within(
          async () =>
            (await judge.target(call.to)) ??
            put({ method: "eth_call", params: [bounded(call), where], result: bytes }),
        ),
      ),
    ],
    [
      "eth_sendRawTransaction",
      method(["a signed transaction in hexadecimal"], z.tuple([bytes]), ([hex], client) => send(hex, client)),
    ],
    ["eth_getTransactionByHash", ofTransaction("eth_getTransactionByHash", "hash")],
    ["eth_getTransactionReceipt", ofTransaction("eth_getTransactionReceipt", "transactionHash")],
  ]);

  function ofAccount(name: string, result: z.ZodType): PayerMethod {
    return method(["an address", blockExpected], z.tuple([address, at]), (params) =>
      ask({ method: name, params, result }),
    );
  }

  function ofTransaction(name: string, member: string): PayerMethod {
    return method([aHash], z.tuple([hash]), (params) =>
      ask({ method: name, params, result: recordOf(member, params[0]) }),
    );
  }
}

const aBoolean = "true or false";
const aHash = "a hash";

async function own(value: string): Promise<Outcome> {
  return { json: JSON.stringify(value) };
}

/** Without prices: an account need not be able to pay for all the gas that it might use. */
function bounded({ from, to, value, data }: TransactionCall) {
  return {
    ...(from === undefined ? {} : { from }),
    to,
    value: hexQuantity(value),
    data,
    gas: hexQuantity(gasMax),
  };
}

/** A record that says by which hash it was asked for, or null. */
function recordOf(member: string, of: string) {
  return z.looseObject({ [member]: hash.refine((told) => told === of) }).nullable();
}

function blockAt(asked: string) {
  const number = quantity.refine((told) => !asked.startsWith("0x") || hexQuantity(told) === asked);
  return z.looseObject({ number }).nullable();
}

const feeHistory = z.looseObject({ oldestBlock: quantity });
