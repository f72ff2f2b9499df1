import { fileURLToPath } from "node:url";
import type { Wallet } from "ethers";
import type { Test } from "tap";
import { runCommand } from "../../../../helpers/run-command.ts";
import type { Paying } from "./start-payer-rpc.ts";

const script = fileURLToPath(new URL("pay.py", import.meta.url));

/** Has web3.py fill in, sign and send a payment, and wait for it. */
export async function payWithWeb3py(
  t: Test,
  { python, url, wallet, paying }: { python: string; url: string; wallet: Wallet; paying: Paying },
): Promise<void> {
  const { to, value, data } = paying;
  const args = [script, url, wallet.privateKey, to, String(value), data];
  const { code, lines } = await runCommand(t, { program: python, args });
  t.equal(code, 0, lines.join("\n"));
  t.equal(lines.at(-1), "1", "the receipt's status");
}
