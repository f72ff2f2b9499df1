import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Wallet } from "ethers";
import { CommandError, textOf } from "../lib/cli/command.ts";
import { json } from "../lib/cli/format.ts";
import type { GenesisCommand } from "./command.ts";
import { readNetworkConfig } from "./config.ts";
import { writeSecrets } from "./write-secrets.ts";

const keystore = join("secrets", "faucet-keystore.json");
const password = join("secrets", "faucet-keystore-password");

export const keystoreCommand: GenesisCommand = {
  name: "keystore",
  positionals: [],
  summary: "Encrypts the faucet's key of a network, for a faucet of the production profile.",
  details: [
    "accounts/faucet.key becomes secrets/faucet-keystore.json, with a password of its own beside it. The plain key is left",
    "where it is: put it away from this machine, or destroy it, once the faucet has paid.",
  ],
  options: {
    out: { value: "FOLDER", text: "the network's folder" },
    config: { value: "FILE", text: "where its default stands (config/network.yaml)" },
  },
  examples: ["keystore"],
  async run({ values, env, print, note }) {
    const folder =
      textOf(values, "out") ??
      readNetworkConfig({ file: textOf(values, "config") ?? "config/network.yaml", env }).folder;
    const from = join(folder, "accounts", "faucet.key");
    const key = await readFile(from, "utf8").catch(() => undefined);
    if (key === undefined) {
      throw new CommandError(`${from} cannot be read: has the network an account of yours for its faucet?`, {
        exitCode: 1,
      });
    }
    const wallet = readWallet(key);
    if (wallet === undefined) throw new CommandError(`${from} has no private key in it.`, { exitCode: 1 });
    const secret = randomBytes(24).toString("base64url");
    const files = [
      // The password first: a keystore without one is of no use.
      { path: password, content: `${secret}\n` },
      { path: keystore, content: `${await wallet.encrypt(secret)}\n` },
    ];
    const failure = await writeSecrets(folder, files);
    if (failure !== undefined) {
      note(failure);
      return 1;
    }
    const settings = {
      FAUCET_KEYSTORE: resolve(folder, keystore),
      FAUCET_KEYSTORE_PASSWORD_FILE: resolve(folder, password),
    };
    if (values["json"] === true) print(json({ address: wallet.address, ...settings }));
    else {
      const lines = Object.entries(settings).map(([name, path]) => `${name}=${path}`);
      print([`The wallet ${wallet.address} is encrypted. The faucet finds it with`, ...lines].join("\n"));
    }
    return 0;
  },
};

function readWallet(key: string): Wallet | undefined {
  try {
    return new Wallet(key.trim());
  } catch {
    return undefined;
  }
}
