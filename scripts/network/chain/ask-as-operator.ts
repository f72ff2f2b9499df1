import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { operatorKeyFile, operatorToken } from "../../../genesis/operator-token.ts";
import { ChainUnavailableError, createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { CommandError } from "../../../lib/cli/command.ts";

const timeoutMsDefault = 30_000;

/** The key that nodes know their operator by; PEM. Throws a CommandError where it cannot be read. */
export async function readOperatorKey(folder: string): Promise<string> {
  const file = join(folder, operatorKeyFile);
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) throw new CommandError(`${file} cannot be read.`, { exitCode: 1 });
  return text;
}

/** Asks a node for one method with a token for it. `refused` completes a sentence that begins with the node's name. */
export async function askAsOperator({
  url,
  privateKey,
  method,
  params,
  nowMs,
  timeoutMs = timeoutMsDefault,
}: {
  url: string;
  privateKey: string;
  method: string;
  params: readonly unknown[];
  nowMs: number;
  timeoutMs?: number;
}): Promise<{ result: unknown } | { refused: string }> {
  const token = operatorToken({ privateKey, method, nowMs });
  const rpc = createRpcClient({ url, headers: { Authorization: `Bearer ${token}` }, timeoutMs });
  try {
    const answer = await rpc.ask(method, params);
    return "error" in answer ? { refused: `refuses: ${answer.error.message}` } : { result: answer.result };
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    return { refused: "does not answer" };
  } finally {
    await rpc.stop();
  }
}
