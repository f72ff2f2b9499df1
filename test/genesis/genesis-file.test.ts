import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { getCreate2Address, getCreateAddress } from "ethers/address";
import { keccak256 } from "ethers/crypto";
import { Transaction } from "ethers/transaction";
import t from "tap";
import { z } from "zod";
import { genesisBlock } from "../../genesis/genesis-block.ts";
import { createGenesis, type GenesisSettings } from "../../genesis/genesis-file.ts";
import { deterministicDeployer } from "../../genesis/known-accounts.ts";
import { emptyRoot, stateRoot } from "../../genesis/state-root.ts";
import { developmentAccounts } from "../../lib/chain/development-accounts.ts";
import { decodeExtraData } from "../../lib/ibft/extra-data.ts";
import { startAnvil } from "../helpers/anvil.ts";

type Json = Record<string, unknown> & { alloc: Record<string, { balance: string }>; extraData: string };
const vector = (name: string) =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), "utf8"));

/** Made by Besu 26.8.0's own operator tool. */
const besus: Json = vector("besu-genesis.json");
const validators: string[] = vector("besu-validators.json");
const settings: GenesisSettings = {
  consensus: "ibft2",
  chainId: 8845,
  validators,
  blockSeconds: 2,
  requestTimeoutSeconds: 4,
  epochBlocks: 30_000,
  gasLimit: 30_000_000,
  accounts: developmentAccounts.map((address) => ({ address, tokens: 1_000_000 })),
};

/** Addresses as Besu's tool writes them: in any case, without 0x. */
function plainAlloc(alloc: Json["alloc"]) {
  return Object.fromEntries(
    Object.entries(alloc).map(([address, value]) => [address.toLowerCase().replace(/^0x/, ""), value]),
  );
}

t.test(
  "for the same keys and options ours is Besu's own but for the order of validators and the proxy",
  async (t) => {
    const ours = createGenesis(settings);
    const { alloc, extraData, ...rest } = ours;
    const { alloc: besuAlloc, extraData: besuExtraData, ...besuRest } = besus;
    t.same(rest, besuRest);
    const { [deterministicDeployer.address.slice(2).toLowerCase()]: proxy, ...accounts } = plainAlloc(alloc);
    t.same(accounts, plainAlloc(besuAlloc));
    t.match(proxy, { balance: "0x0", nonce: "0x1", code: deterministicDeployer.code });
    const [own, besu] = [decodeExtraData(extraData), decodeExtraData(besuExtraData)];
    if ("problem" in own || "problem" in besu) throw new Error("one of them cannot be decoded");
    t.same(own.extraData, { ...besu.extraData, validators: [...besu.extraData.validators].sort() });
    t.same(own.extraData.validators, validators, "ascending, as live headers have them");
  },
);

t.test("the block of Besu's genesis file has the hash that Besu gave it", async (t) => {
  t.equal(genesisBlock(besus)?.hash, "0xd32262ebc45ce01f9c253d7626a0cecf138610dfd029c91c840043e5a03f6712");
  t.equal(
    genesisBlock(besus)?.stateRoot,
    "0xf8fa57a961bc78e7c98f902e9926ff25f16c970c7f9790a8af37d52d32372401",
    "as recorded",
  );
});

t.test("no hash is claimed for a file of another kind", async (t) => {
  t.equal(genesisBlock({ ...besus, config: { londonBlock: 0, shanghaiTime: 0, cancunTime: 5 } }), undefined);
  t.equal(genesisBlock({}), undefined);
});

const dump = z.object({
  accounts: z.record(
    z.string(),
    z.object({ balance: z.string(), nonce: z.coerce.bigint(), code: z.string() }),
  ),
});
const blockWithRoot = z.object({ stateRoot: z.string() });

t.test("the state root is anvil's for the same accounts", async (t) => {
  const anvil = await startAnvil(t);
  // So many that paths of all kinds are there: branches, shared digits, odd and even lengths.
  for (let index = 1; index <= 60; index += 1) {
    const address = `0x${(index * 7919).toString(16).padStart(40, "0")}`;
    await anvil.rpc("anvil_setBalance", [address, `0x${(index * 1000).toString(16)}`]);
    await anvil.rpc("anvil_setNonce", [address, `0x${index.toString(16)}`]);
    if (index % 5 === 0) await anvil.rpc("anvil_setCode", [address, `0x60${String(index).padStart(2, "0")}`]);
  }
  await anvil.rpc("evm_mine");
  const block = blockWithRoot.parse(await anvil.rpc("eth_getBlockByNumber", ["latest", false]));
  const dumped = String(await anvil.rpc("anvil_dumpState"));
  const { accounts } = dump.parse(
    JSON.parse(gunzipSync(Buffer.from(dumped.slice(2), "hex")).toString("utf8")),
  );
  const all = Object.entries(accounts).map(([address, { balance, nonce, code }]) => {
    return { address, balanceWei: BigInt(balance), nonce, code };
  });
  t.ok(all.length > 60);
  t.equal(stateRoot(all), block.stateRoot);
  t.equal(stateRoot([...all].reverse()), block.stateRoot, "whatever the order");
  t.not(stateRoot(all.slice(1)), block.stateRoot);
  t.equal(stateRoot([]), emptyRoot);
});

t.test("QBFT has its own form of extraData and its own settings", async (t) => {
  const { config, extraData } = createGenesis({ ...settings, consensus: "qbft" });
  t.match(config, { qbft: { blockperiodseconds: 2 } });
  t.notOk("ibft2" in config);
  t.match(extraData, /c080c0$/);
});

t.test("an account that is named twice has both amounts", async (t) => {
  const [address = ""] = developmentAccounts;
  const { alloc } = createGenesis({
    ...settings,
    accounts: [
      { address, tokens: 1 },
      { address: address.toLowerCase(), tokens: 2 },
    ],
  });
  t.same(alloc[address.toLowerCase()], { balance: "0x29a2241af62c0000" });
});

t.test("the deterministic-deployment proxy is the one that its published transaction makes", async (t) => {
  // https://github.com/Arachnid/deterministic-deployment-proxy: signed once, for all chains.
  const published = Transaction.from(
    "0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222",
  );
  t.equal(published.from?.toLowerCase(), "0x3fab184622dc19b6109349b94811493bf2a45362");
  t.equal(getCreateAddress({ from: published.from ?? "", nonce: 0 }), deterministicDeployer.address);
  const creation = "604580600e600039806000f350fe";
  t.equal(published.data, `0x${creation}${deterministicDeployer.code.slice(2)}`);
});

t.test("through the proxy a contract comes to the address that EIP-1014 gives it", async (t) => {
  const anvil = await startAnvil(t);
  const { address, code } = deterministicDeployer;
  await anvil.rpc("anvil_setCode", [address, code]);
  // Returns one byte of code, 0xfe: PUSH1 fe, PUSH1 0, MSTORE8, PUSH1 1, PUSH1 0, RETURN.
  const initCode = "60fe60005360016000f3";
  const result = await anvil.rpc("eth_call", [
    { to: address, data: `0x${"00".repeat(32)}${initCode}` },
    "latest",
  ]);
  t.equal(
    result,
    getCreate2Address(address, `0x${"00".repeat(32)}`, keccak256(`0x${initCode}`)).toLowerCase(),
  );
});
