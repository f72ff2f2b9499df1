import { formatEther } from "ethers/utils";
import { readAllowlist } from "../../faucet/allowlist/read-allowlist.ts";
import { json, table } from "../../lib/cli/format.ts";
import { formatTokens } from "../../lib/config/token-amount.ts";
import type { FaucetCommand } from "./command.ts";

export const listCommand: FaucetCommand = {
  name: "list",
  positionals: [],
  summary: "Lists who may claim.",
  details: [],
  options: {},
  examples: ["list --json"],
  async run({ config, allowlist, json: asJson, print, note }) {
    const entries = readAllowlist(config.allowlistFile).map(({ address, label, amountWei }) => ({
      address,
      label,
      wei: amountWei ?? config.amount,
    }));
    const inUse = await allowlist.count();
    if (asJson) {
      const listed = entries.map(({ wei, ...entry }) => ({ ...entry, amount: formatEther(wei) }));
      print(json({ entries: listed, inUse }));
    } else if (entries.length > 0) {
      const rows = entries.map(({ address, label, wei }) => [address, label, formatTokens(wei)]);
      print(table(["ADDRESS", "LABEL", "TOKENS"], rows));
    }
    if (inUse !== entries.length) {
      note(
        `The faucets go by a list of ${inUse} at the moment: a running one takes this file within seconds.`,
      );
    }
  },
};
