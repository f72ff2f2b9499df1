import { join } from "node:path";
import { encryptKeystoreJsonSync, Wallet } from "ethers/wallet";
import t from "tap";
import { readNetworkConfig } from "../../../genesis/config.ts";
import { feeCollectorAddress } from "../../../lib/fee-collector/fee-addresses.ts";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { deployFees } from "../../../scripts/network/deploy-fees.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const chain = await startAnvil(t);
const configFile = join(import.meta.dirname, "../../../config/network.yaml");

/** What `up` says of it. */
async function deployed({
  folder,
  profile = "development",
  chainId = 8845,
}: {
  folder: string;
  profile?: string;
  chainId?: number;
}): Promise<string> {
  const said: string[] = [];
  const config = readNetworkConfig({ file: configFile, env: {}, overrides: { profile } });
  const list = [{ name: "validator-1", address: `0x${"11".repeat(20)}`, rpcUrl: chain.url }];
  await deployFees({
    nodes: { list },
    manifest: { chainId },
    folder,
    config,
    note: (text) => said.push(text),
  });
  return said.join("\n");
}

t.test("a development network gets the contract of the dev chain, once", async (t) => {
  const folder = testFolder(t, {});
  t.equal(await deployed({ folder }), `The FeeCollector is at ${developmentFeeSettings.feeCollector}.`);
  t.equal(await deployed({ folder }), "");
});

t.test("a network with accounts of its own gets its own contract, by the owner's keystore", async (t) => {
  const [owner, treasury] = [new Wallet(Wallet.createRandom().privateKey), `0x${"22".repeat(20)}`];
  const fees = `profile: production\nowner: "${owner.address}"\ntreasury: "${treasury}"\n`;
  const away = testFolder(t, { "fees.yaml": fees });
  t.match(
    await deployed({ folder: away, profile: "production" }),
    `No fees are taken: This takes the key of the owner`,
  );
  const folder = testFolder(t, {
    "fees.yaml": fees,
    secrets: {
      "fee-owner-keystore.json": encryptKeystoreJsonSync(owner, "secret", { scrypt: { N: 2 } }),
      "fee-owner-keystore-password": "secret\n",
    },
  });
  const address = feeCollectorAddress({ owner: owner.address, treasury });
  t.equal(await deployed({ folder, profile: "production" }), `The FeeCollector is at ${address}.`);
  t.equal(await deployed({ folder: away, profile: "production" }), "", "it needs the key no more");
});

t.test("what stands in the way is told in a line, and stops nothing", async (t) => {
  const folder = testFolder(t, {});
  t.match(
    await deployed({ folder, profile: "production" }),
    /^No fees are taken: .*fees\.yaml is missing .*fee-keys/,
  );
  t.match(
    await deployed({ folder, chainId: 1 }),
    /^No fees are taken: The node is of chain 8845, not of 1\.$/,
  );
});
