import { z } from "zod";
import { operatorKeyFile } from "../../genesis/operator-token.ts";
import { CommandError } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import { askAsOperator, readOperatorKey } from "./chain/ask-as-operator.ts";
import type { NetworkCommand } from "./command.ts";
import { findNode } from "./find-node.ts";

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
    const answer = await askAsOperator({
      url: rpcUrl,
      privateKey: await readOperatorKey(folder),
      method,
      params: readParams(params),
      nowMs: now(),
    });
    if ("refused" in answer) {
      note(`${name} ${answer.refused}.`);
      return 1;
    }
    print(json(answer.result));
    return 0;
  },
};

function readParams(text: string): readonly unknown[] {
  try {
    return z.array(z.unknown()).parse(JSON.parse(text));
  } catch {
    throw new CommandError(`PARAMS: a JSON array was expected, got "${text}".`, { exitCode: 2 });
  }
}
