import { join } from "node:path";
import t from "tap";
import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import { ConfigError } from "../../../lib/config/read-config.ts";
import { developmentFeeSettings, readFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { feeSources } from "../../../lib/fee-collector/fee-sources.ts";
import { productionFees } from "../../helpers/fee-environment.ts";

const file = join(import.meta.dirname, "../../../config/fees.yaml");
const address = (digit: string) => checksumAddress(`0x${digit.repeat(40)}`);

t.test("the file's defaults are the development accounts", async (t) => {
  t.same(readFeeSettings({ file, env: {} }), developmentFeeSettings);
});

t.test("production takes none of them", async (t) => {
  t.same(problems({}), ["owner", "treasury", ...feeSources.map((source) => `signers.${source}`)]);
  t.same(readFeeSettings({ file, env: productionFees, profile: "production" }).owner, address("1"));
  // The faucet's.
  t.same(problems({ ...productionFees, FEE_OWNER: "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720" }), ["owner"]);
  t.same(problems({ ...productionFees, FEE_SIGNER_BRIDGE: "0xbda5747bfd65f08deb54cb465eb87d40e51b197e" }), [
    "signers.bridge",
  ]);
});

t.test("a source may have two signers while a key is changed, and no third", async (t) => {
  const two = `${address("4")}, ${address("5")}`;
  const { signers } = readFeeSettings({ file, env: { FEE_SIGNER_WORKS: two } });
  t.same(signers.works, [address("4"), address("5")]);
  t.throws(() => readFeeSettings({ file, env: { FEE_SIGNER_WORKS: `${two},${address("6")}` } }), ConfigError);
});

t.test("an address is written right, or refused", async (t) => {
  const mistyped = "0x23618E81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f";
  for (const owner of [mistyped, "0x1234", `0x${"0".repeat(40)}`, "treasury.eth"]) {
    t.throws(() => readFeeSettings({ file, env: { FEE_OWNER: owner } }), { message: /owner/ }, owner);
  }
  const lower = developmentFeeSettings.owner.toLowerCase();
  t.equal(readFeeSettings({ file, env: { FEE_OWNER: lower } }).owner, developmentFeeSettings.owner);
});

/** The keys that production refuses. */
function problems(env: Readonly<Record<string, string>>): string[] {
  try {
    readFeeSettings({ file, env, profile: "production" });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((text) => /: ([\w.]+): the production profile/.exec(text)?.[1] ?? text);
  }
}
