import { randomBytes } from "node:crypto";
import { chown, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { getuid } from "node:process";
import { Wallet } from "ethers";
import { CommandError, textOf } from "../lib/cli/command.ts";
import { json } from "../lib/cli/format.ts";
import type { GenesisCommand } from "./command.ts";
import { readNetworkConfig } from "./config.ts";

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
      { path: resolve(folder, password), content: `${secret}\n` },
      { path: resolve(folder, keystore), content: `${await wallet.encrypt(secret)}\n` },
    ] as const;
    for (const [index, { path, content }] of files.entries()) {
      const failure = await writeNew(path, content, folder);
      if (failure === undefined) continue;
      for (const written of files.slice(0, index)) await rm(written.path, { force: true });
      const why = failure === "EEXIST" ? "it is there already, and is not replaced" : failure;
      note(`${path} cannot be written: ${why}.`);
      return 1;
    }
    const settings = { FAUCET_KEYSTORE: files[1].path, FAUCET_KEYSTORE_PASSWORD_FILE: files[0].path };
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

/** Readable by the owner of the network's keys alone, as whom containers run. Answers the error's code where it failed. */
async function writeNew(path: string, content: string, folder: string): Promise<string | undefined> {
  try {
    // Asked first, so that a file that is made has its owner.
    const { uid, gid } = await stat(join(folder, "secrets", "redis-url"));
    await writeFile(path, content, { flag: "wx", mode: 0o600 });
    if (getuid?.() === 0) await chown(path, uid, gid);
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}
