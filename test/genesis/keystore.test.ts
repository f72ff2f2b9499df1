import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Wallet } from "ethers";
import t from "tap";
import { useNativeScrypt } from "../helpers/native-scrypt.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { genesisIn } from "./genesis-in.ts";

useNativeScrypt();

t.test("the faucet's key becomes a keystore with a password of its own, once", async (t) => {
  const folder = join(testFolder(t, {}), "network");
  const genesis = genesisIn(folder);
  t.match(await genesis("keystore"), { code: 1, err: /accounts\/faucet.key cannot be read/ });
  t.equal((await genesis("init")).code, 0);
  const { code, out } = await genesis("keystore");
  t.equal(code, 0);
  const key = new Wallet(readFileSync(join(folder, "accounts", "faucet.key"), "utf8").trim());
  t.match(out, key.address);
  const pathOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(out)?.[1] ?? "";
  const keystore = pathOf("FAUCET_KEYSTORE");
  const password = readFileSync(pathOf("FAUCET_KEYSTORE_PASSWORD_FILE"), "utf8").trim();
  t.equal(statSync(keystore).mode & 0o777, 0o600);
  t.equal(statSync(pathOf("FAUCET_KEYSTORE_PASSWORD_FILE")).mode & 0o777, 0o600);
  const opened = await Wallet.fromEncryptedJson(readFileSync(keystore, "utf8"), password);
  t.equal(opened.privateKey, key.privateKey);
  t.match(await genesis("keystore"), { code: 1, err: /is not replaced/ });
  t.equal(readFileSync(pathOf("FAUCET_KEYSTORE_PASSWORD_FILE"), "utf8").trim(), password);

  // A password of another day: no keystore is left without one of its own.
  rmSync(keystore);
  t.match(await genesis("keystore"), { code: 1, err: /password cannot be written: it is there already/ });
  t.notOk(existsSync(keystore));
  writeFileSync(join(folder, "accounts", "faucet.key"), "nothing of the kind");
  t.match(await genesis("keystore"), { code: 1, err: /faucet\.key has no private key in it/ });
});
