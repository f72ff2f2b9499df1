import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Wallet } from "ethers";
import { getAddress, isAddress } from "ethers/address";
import { CommandError, textOf } from "../lib/cli/command.ts";
import { json } from "../lib/cli/format.ts";
import type { GenesisCommand } from "./command.ts";
import { readNetworkConfig } from "./config.ts";
import { type SecretFile, writeSecrets } from "./write-secrets.ts";

/** The variable that names each file to docker/compose.yaml or to npm run contracts. */
const paths = {
  FEE_OWNER_KEYSTORE: join("secrets", "fee-owner-keystore.json"),
  FEE_OWNER_KEYSTORE_PASSWORD_FILE: join("secrets", "fee-owner-keystore-password"),
  API_ORDER_SIGNER_KEYSTORE: join("secrets", "order-signer-keystore.json"),
  API_ORDER_SIGNER_PASSWORD_FILE: join("secrets", "order-signer-keystore-password"),
  API_INVOICE_SIGNER_KEYSTORE: join("secrets", "invoice-signer-keystore.json"),
  API_INVOICE_SIGNER_PASSWORD_FILE: join("secrets", "invoice-signer-keystore-password"),
  API_SEALING_KEY_FILE: join("secrets", "sealing-key"),
  FEES_FILE: "fees.yaml",
};

export const feeKeysCommand: GenesisCommand = {
  name: "fee-keys",
  positionals: [],
  summary:
    "Makes what selling API keys takes in the production profile: owner, signer of orders, sealing key.",
  details: [
    "Three encrypted keys with passwords of their own, a key under which secrets are kept in PostgreSQL, and fees.yaml, which names",
    "the contract's owner, its treasury and the signers. Nothing that is there is replaced. The owner's key is needed to deploy",
    "and to change signers: put its two files away from this machine after that.",
  ],
  options: {
    treasury: { value: "ADDRESS", text: "who gets 70 % of the fees (the account of accounts/treasury.key)" },
    out: { value: "FOLDER", text: "the network's folder" },
    config: { value: "FILE", text: "where its default stands (config/network.yaml)" },
  },
  examples: ["fee-keys", "fee-keys --treasury 0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
  async run({ values, env, print, note }) {
    const folder =
      textOf(values, "out") ??
      readNetworkConfig({ file: textOf(values, "config") ?? "config/network.yaml", env }).folder;
    const treasury = await findTreasury({ folder, given: textOf(values, "treasury") });
    const [owner, signer, invoiceSigner] = [await encryptNew(), await encryptNew(), await encryptNew()];
    const accounts = {
      owner: owner.address,
      treasury,
      signer: signer.address,
      invoiceSigner: invoiceSigner.address,
    };
    const files: SecretFile[] = [
      // Each password first: a keystore without one is of no use.
      { path: paths.FEE_OWNER_KEYSTORE_PASSWORD_FILE, content: owner.password },
      { path: paths.FEE_OWNER_KEYSTORE, content: owner.keystore },
      { path: paths.API_ORDER_SIGNER_PASSWORD_FILE, content: signer.password },
      { path: paths.API_ORDER_SIGNER_KEYSTORE, content: signer.keystore },
      { path: paths.API_INVOICE_SIGNER_PASSWORD_FILE, content: invoiceSigner.password },
      { path: paths.API_INVOICE_SIGNER_KEYSTORE, content: invoiceSigner.keystore },
      { path: paths.API_SEALING_KEY_FILE, content: `${randomBytes(32).toString("hex")}\n` },
      {
        path: paths.FEES_FILE,
        content: feesFile(accounts),
      },
    ];
    const failure = await writeSecrets(folder, files);
    if (failure !== undefined) {
      note(failure);
      return 1;
    }
    const settings = Object.entries(paths).map(([name, path]): [string, string] => [
      name,
      resolve(folder, path),
    ]);
    if (values["json"] === true) print(json({ ...accounts, ...Object.fromEntries(settings) }));
    else {
      const what = Object.entries(accounts).map(([name, address]) => `${name} ${address}`);
      print([`${what.join(", ")}.`, ...settings.map(([name, path]) => `${name}=${path}`)].join("\n"));
    }
    return 0;
  },
};

async function findTreasury({
  folder,
  given,
}: {
  folder: string;
  given: string | undefined;
}): Promise<string> {
  if (given !== undefined) {
    if (isAddress(given)) return getAddress(given);
    throw new CommandError("--treasury: an address was expected, 0x and 40 digits.", { exitCode: 2 });
  }
  const file = join(folder, "accounts", "treasury.key");
  try {
    return new Wallet((await readFile(file, "utf8")).trim()).address;
  } catch {
    throw new CommandError(
      `${file} has no private key in it: name who gets the fees with --treasury ADDRESS.`,
      {
        exitCode: 1,
      },
    );
  }
}

async function encryptNew(): Promise<{ address: string; password: string; keystore: string }> {
  const wallet = Wallet.createRandom();
  const password = randomBytes(24).toString("base64url");
  return {
    address: wallet.address,
    password: `${password}\n`,
    keystore: `${await new Wallet(wallet.privateKey).encrypt(password)}\n`,
  };
}

/** What config/fees.yaml says, with accounts of this network. Sources that have no signer make no orders. */
function feesFile({
  owner,
  treasury,
  signer,
  invoiceSigner,
}: {
  owner: string;
  treasury: string;
  signer: string;
  invoiceSigner: string;
}): string {
  return [
    "# Made by npm run genesis -- fee-keys. config/fees.yaml explains it.",
    `profile: \${TOLLGATE_PROFILE:-development}`,
    `owner: "${owner}"`,
    `treasury: "${treasury}"`,
    "signers:",
    `  svc_dev: "${signer}"`,
    `  payments: "${invoiceSigner}"`,
    "",
  ].join("\n");
}
