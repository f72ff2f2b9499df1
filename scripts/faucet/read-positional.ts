import { readAddress } from "../../faucet/allowlist/claim-address.ts";
import { CommandError } from "../../lib/cli/command.ts";

/** The address on a command line, with its checksum. Throws a CommandError that says what is wrong with it, and `guess`. */
export function addressOf([text = ""]: readonly string[], { guess = "" }: { guess?: string } = {}): string {
  const read = readAddress(text);
  if ("address" in read) return read.address;
  throw new CommandError(`ADDRESS: ${read.wrong}.${guess}`, { exitCode: 2 });
}
