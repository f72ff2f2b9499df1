import { addEntry } from "../../faucet/allowlist/edit-allowlist.ts";
import { labelCharsMax } from "../../faucet/allowlist/read-allowlist.ts";
import { CommandError, textOf } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import { tokenAmount } from "../../lib/config/token-amount.ts";
import type { FaucetCommand } from "./command.ts";
import { editAllowlist } from "./edit-file.ts";
import { addressOf } from "./read-positional.ts";

export const allowCommand: FaucetCommand = {
  name: "allow",
  positionals: ["ADDRESS"],
  summary: "Puts an address on the allowlist.",
  details: ["Edits the allowlist's file and copies it into Redis: it holds at once, on every replica."],
  options: {
    label: { value: "TEXT", text: "whose address it is", required: true },
    amount: { value: "TOKENS", text: "what a claim of it gets, where it is not the faucet's own amount" },
  },
  examples: ['allow 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --label "Acme, QA"'],
  async run({ values, positionals, config, allowlist, json: asJson, print, note }) {
    const address = addressOf(positionals);
    const label = textOf(values, "label") ?? "";
    if (label.length > labelCharsMax) {
      throw new CommandError(`--label: at most ${labelCharsMax} characters were expected.`, { exitCode: 2 });
    }
    const amount = textOf(values, "amount");
    const wrong = amount === undefined ? undefined : tokenAmount.safeParse(amount).error;
    if (wrong !== undefined)
      throw new CommandError(`--amount: ${wrong.issues[0]?.message}.`, { exitCode: 2 });
    const entry = {
      address,
      label,
      ...(amount === undefined ? {} : { amount }),
    };
    const edited = await editAllowlist({
      file: config.allowlistFile,
      store: allowlist,
      change: (text) => addEntry(text, entry),
    });
    if (edited === undefined) note(`${address} was on the list already; nothing was changed.`);
    if (asJson) return print(json({ address, added: edited !== undefined }));
    if (edited !== undefined) print(`${address} may claim (${edited.entries.length} on the list).`);
  },
};
