import { z } from "zod";
import { readAnswer } from "../../lib/chain/read-answer.ts";
import type { RpcAnswer, RpcCall, RpcClient } from "../../lib/chain/rpc-client.ts";
import { bytes, hexQuantity, quantity, wei } from "../../lib/chain/rpc-values.ts";
import {
  type BlockWithHeader,
  type RpcPlacedLog,
  rpcBlock,
  rpcPlacedLog,
  rpcReceipt,
  rpcTransaction,
} from "./rpc-records.ts";

export type ChainReader = ReturnType<typeof createChainReader>;

/** "latest", or a block's number. */
export type BlockTag = "latest" | number;

/**
 * What the API asks of the chain, through the gateway. Equal calls that are under way are asked once. Throws
 * ChainUnavailableError where the gateway does not answer, or a validator answers with an error.
 */
export function createChainReader({ rpc }: { rpc: RpcClient }) {
  const inFlight = new Map<string, Promise<RpcAnswer[]>>();

  function ask(calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
    const key = JSON.stringify(calls);
    const running = inFlight.get(key);
    if (running !== undefined) return running;
    const asked = rpc.askAll(calls).finally(() => inFlight.delete(key));
    inFlight.set(key, asked);
    return asked;
  }

  return {
    async block(tag: BlockTag) {
      const [answer] = await ask([call("eth_getBlockByNumber", [tagText(tag), false])]);
      return readBlock(answer);
    },

    async blockByHash(hash: string) {
      const [answer] = await ask([call("eth_getBlockByHash", [hash, false])]);
      return readBlock(answer);
    },

    async transaction(hash: string) {
      const [transaction, receipt] = await ask([
        call("eth_getTransactionByHash", [hash]),
        call("eth_getTransactionReceipt", [hash]),
      ]);
      const found = readAnswer(transaction, rpcTransaction.nullable());
      if (found === null) return undefined;
      return { transaction: found, receipt: readAnswer(receipt, rpcReceipt.nullable()) ?? undefined };
    },

    /** Balance, nonce and code at one block. */
    async account(address: string, blockNumber: number) {
      const at = tagText(blockNumber);
      const [balance, nonce, code] = await ask([
        call("eth_getBalance", [address, at]),
        call("eth_getTransactionCount", [address, at]),
        call("eth_getCode", [address, at]),
      ]);
      return {
        balance: readAnswer(balance, wei),
        nonce: readAnswer(nonce, quantity),
        code: readAnswer(code, bytes),
      };
    },

    async code(address: string, blockNumber: number): Promise<string> {
      const [answer] = await ask([call("eth_getCode", [address, tagText(blockNumber)])]);
      return readAnswer(answer, bytes);
    },

    /** The logs of a contract in a range of blocks, oldest first. */
    async logs(address: string, { from, to }: { from: number; to: number }): Promise<RpcPlacedLog[]> {
      const filter = { address, fromBlock: hexQuantity(from), toBlock: hexQuantity(to) };
      const [answer] = await ask([call("eth_getLogs", [filter])]);
      return readAnswer(answer, z.array(rpcPlacedLog));
    },

    async gasPrice(): Promise<bigint> {
      const [answer] = await ask([call("eth_gasPrice", [])]);
      return readAnswer(answer, wei);
    },

    /** Runs a call; the bytes that it returns, those with which it reverts, or the node's words of why it ended. */
    async call(
      transaction: { from?: string; to: string | null; data: string; value?: bigint; gas?: bigint },
      tag: BlockTag,
    ): Promise<{ returned: string } | { reverted: string | undefined } | { failed: string }> {
      const { from, to, data, value, gas } = transaction;
      const params = {
        ...(from === undefined ? {} : { from }),
        ...(to === null ? {} : { to }),
        ...(value === undefined ? {} : { value: hexQuantity(value) }),
        ...(gas === undefined ? {} : { gas: hexQuantity(gas) }),
        data,
      };
      const [answer] = await ask([call("eth_call", [params, tagText(tag)])]);
      if (answer !== undefined && "error" in answer) {
        const { data, message, ofGateway } = answer.error;
        const reverted = bytes.safeParse(data);
        if (reverted.success) return { reverted: reverted.data };
        if (/revert/i.test(message)) return { reverted: undefined };
        if (!ofGateway) return { failed: message };
      }
      return { returned: readAnswer(answer, bytes) };
    },
  };
}

function call(method: string, params: readonly unknown[]): RpcCall {
  return { method, params };
}

function tagText(tag: BlockTag): string {
  return tag === "latest" ? tag : hexQuantity(tag);
}

function readBlock(answer: RpcAnswer | undefined): BlockWithHeader | undefined {
  const block = readAnswer(answer, rpcBlock.nullable());
  if (block === null || answer === undefined || !("result" in answer)) return undefined;
  return { ...block, header: answer.result };
}
