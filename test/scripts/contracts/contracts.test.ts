import { join } from "node:path";
import { encryptKeystoreJsonSync, Wallet } from "ethers/wallet";
import t from "tap";
import { z } from "zod";
import { createGenesis } from "../../../genesis/genesis-file.ts";
import { developmentAccounts } from "../../../lib/chain/development-accounts.ts";
import { feeCollectorInterface } from "../../../lib/fee-collector/artifacts.ts";
import { developmentOwner, developmentSigners } from "../../../lib/fee-collector/development-keys.ts";
import { burnSinkAddress, create2Factory } from "../../../lib/fee-collector/fee-addresses.ts";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { runContracts } from "../../../scripts/contracts/run-contracts.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { waitFor } from "../../helpers/wait-for.ts";

/** The one of our own genesis block, with nobody's tokens but a stranger's: gas is free. */
const genesis = createGenesis({
  consensus: "ibft2",
  chainId: 8845,
  validators: [`0x${"11".repeat(20)}`],
  blockSeconds: 2,
  requestTimeoutSeconds: 4,
  epochBlocks: 30_000,
  gasLimit: 30_000_000,
  accounts: developmentAccounts.slice(0, 1).map((address) => ({ address, tokens: 1 })),
});
const genesisFile = join(testFolder(t, { "genesis.json": JSON.stringify(genesis) }), "genesis.json");
const ours = await startAnvil(t, { genesisFile });
const { feeCollector } = developmentFeeSettings;
const stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

async function contracts(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runContracts({
    args,
    env,
    print: (text) => out.push(text),
    note: (text) => err.push(text),
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

t.test("on a fresh network deploy brings all, once, at the dev chain's addresses", async (t) => {
  const rpc = ["--rpc", ours.url];
  t.match(await contracts(["check", ...rpc]), {
    code: 1,
    err: `There is no burn sink at ${burnSinkAddress}`,
  });
  const first = await contracts(["deploy", ...rpc]);
  t.match(first, { code: 0, out: `FeeCollector ${feeCollector} is there.` });
  t.equal(first.err.split("\n").length, 9, "a line for burn sink, contract and each signer");
  t.match(await contracts(["check", ...rpc]), { code: 0, err: "", out: /is as config\/fees\.yaml says/ });
  const height = await ours.rpc("eth_blockNumber");
  t.match(await contracts(["deploy", ...rpc]), { code: 0, err: "", out: /was there already/ });
  t.equal(await ours.rpc("eth_blockNumber"), height, "nothing is sent again");

  const dev = await startAnvil(t);
  t.match(await contracts(["deploy", "--rpc", dev.url]), { code: 0, out: first.out });
  for (const address of [burnSinkAddress, feeCollector]) {
    const code = ["eth_getCode", [address, "latest"]] as const;
    t.equal(await dev.rpc(...code), await ours.rpc(...code), address);
  }
});

t.test("a signer is allowed and revoked, and check tells of one that the file does not name", async (t) => {
  const rpc = ["--rpc", ours.url];
  await contracts(["deploy", ...rpc]);
  t.match(await contracts(["signers", "allow", "bridge", stranger, ...rpc]), {
    code: 0,
    out: /allowed signer/,
  });
  t.match(await contracts(["signers", "allow", "bridge", stranger, ...rpc]), { code: 0, err: /already/ });
  t.match(await contracts(["check", ...rpc]), {
    code: 1,
    err: `${stranger} may sign for bridge, and is not in the file`,
  });
  t.match((await contracts(["signers", "list", ...rpc])).out, new RegExp(`bridge +${stranger} +\\d+ +no`));
  t.match(await contracts(["signers", "revoke", "bridge", stranger, ...rpc]), { code: 0 });
  t.match(await contracts(["check", ...rpc]), { code: 0 });
  const rights = z.array(z.object({ source: z.string(), signer: z.string() }));
  const listed = rights.parse(JSON.parse((await contracts(["signers", "list", "--json", ...rpc])).out));
  t.same(
    listed.find(({ source }) => source === "bridge")?.signer,
    developmentSigners.bridge.address,
    "the file's stays",
  );
  t.match(await contracts(["signers", "allow", "casino", stranger, ...rpc]), { code: 2, err: /SOURCE/ });
  t.match(await contracts(["signers", "allow", "bridge", "0x12", ...rpc]), { code: 2, err: /ADDRESS/ });
});

t.test("the owner's key comes from a keystore, and another's is refused", async (t) => {
  const rpc = ["--rpc", ours.url];
  const owner = new Wallet(Wallet.createRandom().privateKey);
  const folder = testFolder(t, {
    "owner.json": encryptKeystoreJsonSync(owner, "secret", { scrypt: { N: 2 } }),
    password: "secret\n",
  });
  const keystore = [
    ...["--owner-keystore", join(folder, "owner.json")],
    ...["--owner-password-file", join(folder, "password")],
  ];
  const env = { FEE_OWNER: owner.address };
  t.match(await contracts(["deploy", ...rpc], env), {
    code: 1,
    err: `the key of the owner, ${owner.address}: --owner-keystore`,
  });
  t.match(await contracts(["deploy", ...rpc, ...keystore], env), { code: 0, out: /is there/ });
  t.match(await contracts(["check", ...rpc], env), { code: 0 });
  t.match(
    await contracts(["signers", "revoke", "works", developmentSigners.works.address, ...rpc, ...keystore]),
    {
      code: 1,
      err: `owner is ${developmentOwner.address}, but the key is of ${owner.address}`,
    },
  );
  const production = { ...env, TOLLGATE_PROFILE: "production" };
  t.match(await contracts(["deploy", ...rpc, ...keystore], production), {
    code: 2,
    err: /signers\.works: the production profile takes no development account/,
  });
});

t.test("what was changed on chain is told", async (t) => {
  const rpc = ["--rpc", ours.url];
  await contracts(["deploy", ...rpc]);
  const data = feeCollectorInterface.encodeFunctionData("setTreasury", [stranger]);
  await ours.rpc("anvil_impersonateAccount", [developmentOwner.address]);
  const call = { from: developmentOwner.address, to: feeCollector, data, gasPrice: "0x0" };
  const hash = await ours.rpc("eth_sendTransaction", [call]);
  await waitFor("the treasury is changed", () => ours.rpc("eth_getTransactionReceipt", [hash]));
  t.match(await contracts(["check", ...rpc]), { code: 1, err: `The treasury is ${stranger}` });
});

t.test("a chain that cannot have the contracts is told of, and a node that is not there", async (t) => {
  const other = await startAnvil(t, { chainId: 1 });
  t.match(await contracts(["deploy", "--rpc", other.url]), { code: 1, err: "of chain 1, not of 8845" });
  const bare = await startAnvil(t);
  await bare.rpc("anvil_setCode", [create2Factory, "0x"]);
  t.match(await contracts(["deploy", "--rpc", bare.url]), { code: 1, err: "no deployment factory" });
  const taken = await startAnvil(t);
  await taken.rpc("anvil_setCode", [feeCollector, "0x00"]);
  t.match(await contracts(["check", "--rpc", taken.url]), { code: 1, err: "other code at the FeeCollector" });
  t.match(await contracts(["check", "--rpc", "http://127.0.0.1:1"]), {
    code: 1,
    err: "http://127.0.0.1:1: the node does not answer",
  });
  t.match(await contracts(["check", "--rpc", "localhost"]), { code: 2, err: /--rpc/ });
});
