import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { operatorKeyFile, operatorToken } from "../../genesis/operator-token.ts";
import { ChainUnavailableError, createRpcClient } from "../../lib/chain/rpc-client.ts";
import { CommandError } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import type { NetworkCommand } from "./command.ts";
import { findNode } from "./find-node.ts";

const timeoutMs = 30_000;

export const rpcCommand: NetworkCommand = {
  name: "rpc",
  positionals: ["N", "METHOD", "[PARAMS]"],
  summary: "Asks validator N for any method of its JSON-RPC, with the operator's token.",
  details: [
    "Votes on validators and what changes a node are answered to nobody else. PARAMS are a JSON array. The token is signed",
    `with ${operatorKeyFile} of the network's folder, for this method and a minute.`,
  ],
  options: {},
  examples: [`rpc 1 ibft_proposeValidatorVote '["0x558a…", false]'`, "rpc 1 ibft_getPendingVotes --native"],
  async run({ positionals: [word = "", method = "", params = "[]"], nodes, folder, now, print, note }) {
    const { name, rpcUrl } = findNode(nodes, word);
    const file = join(folder, operatorKeyFile);
    const privateKey = await readFile(file, "utf8").catch(() => undefined);
    if (privateKey === undefined) throw new CommandError(`${file} cannot be read.`, { exitCode: 1 });
    const rpc = createRpcClient({
      url: rpcUrl,
      headers: { Authorization: `Bearer ${operatorToken({ privateKey, method, nowMs: now() })}` },
      timeoutMs,
    });
    try {
      const answer = await rpc.ask(method, readParams(params));
      if ("error" in answer) {
        note(`${name} refuses: ${answer.error.message}.`);
        return 1;
      }
      print(json(answer.result));
      return 0;
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
      note(`${name} does not answer.`);
      return 1;
    } finally {
      await rpc.stop();
    }
  },
};

function readParams(text: string): readonly unknown[] {
  try {
    return z.array(z.unknown()).parse(JSON.parse(text));
  } catch {
    throw new CommandError(`PARAMS: a JSON array was expected, got "${text}".`, { exitCode: 2 });
  }
}
