import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Wallet } from "ethers";
import t from "tap";
import { readApiConfig } from "../../api/config.ts";
import { openMerchantKeys } from "../../api/merchant/open-merchant-keys.ts";
import { readFeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { useNativeScrypt } from "../helpers/native-scrypt.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { genesisIn } from "./genesis-in.ts";

useNativeScrypt();

t.test("a network gets what the production profile sells keys with, once", async (t) => {
  const folder = join(testFolder(t, {}), "network");
  const genesis = genesisIn(folder);
  t.match(await genesis("fee-keys"), { code: 1, err: /treasury\.key has no private key in it/ });
  t.equal((await genesis("init")).code, 0);
  t.match(await genesis("fee-keys", "--treasury", "0x12"), { code: 2, err: /an address was expected/ });
  const { code, out } = await genesis("fee-keys");
  t.equal(code, 0, out);
  const settings: Record<string, string> = Object.fromEntries(
    [...out.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", path = ""]) => [name, path]),
  );
  t.equal(Object.keys(settings).length, 8);
  for (const file of Object.values(settings)) t.equal(statSync(file).mode & 0o777, 0o600, file);

  const fees = readFeeSettings({ file: settings["FEES_FILE"] ?? "", env: {}, profile: "production" });
  const treasury = new Wallet(readFileSync(join(folder, "accounts", "treasury.key"), "utf8").trim());
  t.equal(fees.treasury, treasury.address);
  const owner = await Wallet.fromEncryptedJson(
    readFileSync(settings["FEE_OWNER_KEYSTORE"] ?? "", "utf8"),
    readFileSync(settings["FEE_OWNER_KEYSTORE_PASSWORD_FILE"] ?? "", "utf8").trim(),
  );
  t.equal(fees.owner, owner.address);

  const config = readApiConfig({
    file: "config/api.yaml",
    env: {
      ...settings,
      API_FEES_FILE: settings["FEES_FILE"],
      TOLLGATE_PROFILE: "production",
      API_ORIGINS: "https://explorer.example,https://www.example",
    },
  });
  const keys = await openMerchantKeys(config);
  t.equal(keys?.feeCollector, fees.feeCollector, "an api sells with them");
  t.ok(keys?.invoiceSigningKey, "and makes invoices");

  const before = readFileSync(settings["API_SEALING_KEY_FILE"] ?? "", "utf8");
  t.match(await genesis("fee-keys"), { code: 1, err: /is there already, and is not replaced/ });
  rmSync(settings["FEE_OWNER_KEYSTORE_PASSWORD_FILE"] ?? "");
  t.match(await genesis("fee-keys"), { code: 1, err: /fee-owner-keystore\.json cannot be written/ });
  t.notOk(
    existsSync(settings["FEE_OWNER_KEYSTORE_PASSWORD_FILE"] ?? ""),
    "what was written before it is gone again",
  );
  t.equal(readFileSync(settings["API_SEALING_KEY_FILE"] ?? "", "utf8"), before);
});
