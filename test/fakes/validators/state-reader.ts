import { AbiCoder } from "ethers/abi";
import { LRUCache } from "lru-cache";
import { type Answer, besuErrors, type RpcError, refused } from "./besu-errors.ts";
import type { SharedChain } from "./shared-chain.ts";

export type StateReader = ReturnType<typeof createStateReader>;

const rememberedMax = 20_000;

/**
 * Questions about state, asked of anvil at a fixed block and remembered for all validators: so the stand-ins spend
 * their time as servers and not on the chain behind them.
 */
export function createStateReader({ chain }: { chain: SharedChain }) {
  const remembered = new LRUCache<string, Answer | Promise<Answer>>({ max: rememberedMax });

  async function ask(method: string, params: unknown[]): Promise<Answer> {
    const answer = await chain.ask(method, params);
    return "result" in answer ? { result: JSON.stringify(answer.result) } : refused(besuError(answer.error));
  }

  /** Keeps what stays true at its block: not the failure of an anvil that was being replaced. */
  function settle(key: string, asked: Promise<Answer>, answer: Answer): void {
    // The chain may have been another one when this was asked: then it was forgotten, and stays so.
    if (remembered.peek(key) !== asked) return;
    const failed = "error" in answer && answer.error.code === besuErrors.internal.code;
    if (failed) remembered.delete(key);
    else remembered.set(key, answer);
  }

  return {
    /** `params` must name the block by its number, so that the same question has one answer. */
    read(method: string, params: unknown[]): Answer | Promise<Answer> {
      const key = `${method}${JSON.stringify(params)}`;
      const known = remembered.get(key);
      if (known !== undefined) return known;
      const asked = ask(method, params);
      remembered.set(key, asked);
      void asked.then((answer) => settle(key, asked, answer));
      return asked;
    },
    forget: () => remembered.clear(),
  };
}

function besuError(error: RpcError): RpcError {
  if (error.code === 3) return revertError(error.data ?? "0x");
  if (/out ?of ?gas/i.test(error.message)) {
    const message = "Transaction processing could not be completed due to an exception (Out of gas)";
    return { code: -32000, message };
  }
  if (error.code === besuErrors.internal.code && error.message === besuErrors.internal.message) return error;
  if (error.code === besuErrors.methodNotFound.code) return besuErrors.methodNotFound;
  if (error.code === besuErrors.invalidParams.code) return besuErrors.invalidParams;
  const reason = error.message.replace(/^EVM error /, "");
  return {
    code: -32000,
    message: `Transaction processing could not be completed due to an exception (${reason})`,
  };
}

const errorSelector = "0x08c379a0"; // Error(string), the form of a revert with a reason

function revertError(data: string): RpcError {
  if (!data.startsWith(errorSelector)) return { code: 3, message: "Execution reverted", data };
  const reason: unknown = AbiCoder.defaultAbiCoder().decode(
    ["string"],
    `0x${data.slice(errorSelector.length)}`,
  )[0];
  return { code: 3, message: `Execution reverted (${String(reason)})`, data };
}
