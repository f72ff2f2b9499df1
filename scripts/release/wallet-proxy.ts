import { statSync } from "node:fs";
import { resolve } from "node:path";
import { textOf } from "../../lib/cli/command.ts";
import type { ReleaseCommand } from "./command.ts";
import { packWalletProxy } from "./wallet-proxy/pack.ts";

export const walletProxyCommand: ReleaseCommand = {
  name: "wallet-proxy",
  positionals: [],
  summary: "Packs the wallet proxy alone, for npx on any machine with Node.js 20 or newer.",
  details: [
    "The archive tollgate-wallet-proxy-VERSION.tgz has everything in it: to run it, npx asks no registry.",
    "Two packs of one commit are the same to the byte.",
  ],
  options: { out: { value: "DIR", text: "where the archive is written", default: "." } },
  examples: ["wallet-proxy --out dist"],
  async run({ root, values, print }) {
    const file = await packWalletProxy({ root, out: resolve(textOf(values, "out") ?? ".") });
    print(`${file} (${Math.ceil(statSync(file).size / 1000)} kB)`);
    print(`Try it: npx --package ${file} tollgate-wallet-proxy --help`);
  },
};
