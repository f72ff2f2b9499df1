import { openKeystore } from "../../lib/chain/open-keystore.ts";
import { CommandError, type OptionTable, textOf, type Values } from "../../lib/cli/command.ts";
import { developmentOwner } from "../../lib/fee-collector/development-keys.ts";

export const ownerOptions: OptionTable = {
  "owner-keystore": { value: "FILE", text: "the owner's encrypted key (also: FEE_OWNER_KEYSTORE)" },
  "owner-password-file": {
    value: "FILE",
    text: "its password (also: FEE_OWNER_KEYSTORE_PASSWORD_FILE)",
  },
};

/**
 * The owner's private key: from a keystore, or the development owner's, which everybody knows. Where the settings name
 * another owner than the key's, whoever uses it says so.
 * @throws CommandError that says what to give.
 */
export async function readOwnerKey({
  owner,
  values,
  env,
}: {
  /** Whom the contract belongs to. */
  owner: string;
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<string> {
  const file = textOf(values, "owner-keystore") ?? env["FEE_OWNER_KEYSTORE"] ?? "";
  const passwordFile = textOf(values, "owner-password-file") ?? env["FEE_OWNER_KEYSTORE_PASSWORD_FILE"] ?? "";
  if (file !== "" && passwordFile === "") {
    throw new CommandError("--owner-password-file was expected beside the keystore.", { exitCode: 2 });
  }
  if (file !== "") return (await openKeystore({ file, passwordFile, password: "" })).privateKey;
  if (owner === developmentOwner.address) return developmentOwner.privateKey;
  throw new CommandError(
    `This takes the key of the owner, ${owner}: --owner-keystore FILE --owner-password-file FILE`,
    { exitCode: 1 },
  );
}
