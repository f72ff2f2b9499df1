import { removeEntry } from "../../faucet/allowlist/edit-allowlist.ts";
import { readAllowlist } from "../../faucet/allowlist/read-allowlist.ts";
import { CommandError } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import { didYouMean, nearest } from "../../lib/cli/nearest.ts";
import type { FaucetCommand } from "./command.ts";
import { editAllowlist } from "./edit-file.ts";
import { addressOf } from "./read-positional.ts";

export const denyCommand: FaucetCommand = {
  name: "deny",
  positionals: ["ADDRESS"],
  summary: "Takes an address off the allowlist.",
  details: ["A claim that was accepted before is paid all the same."],
  options: {},
  examples: ["deny 0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
  async run({ positionals, config, allowlist, json: asJson, print }) {
    const listed = readAllowlist(config.allowlistFile).map((entry) => entry.address);
    const guess = didYouMean(nearest(positionals[0] ?? "", listed));
    const address = addressOf(positionals, { guess });
    const edited = await editAllowlist({
      file: config.allowlistFile,
      store: allowlist,
      change: (text) => removeEntry(text, address),
    });
    if (edited === undefined)
      throw new CommandError(`${address} is not on the list.${guess}`, { exitCode: 1 });
    print(
      asJson
        ? json({ address, removed: true })
        : `${address} may claim no more (${edited.entries.length} on the list).`,
    );
  },
};
