import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { encryptKeystoreJson, Wallet } from "ethers";
import t, { type Test } from "tap";
import { readFaucetConfig } from "../../faucet/config.ts";
import { openWallet } from "../../faucet/wallet.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { testFolder } from "../helpers/test-folder.ts";

const shipped = fileURLToPath(new URL("../../config/faucet.yaml", import.meta.url));
const developmentKey = `0x${"1".repeat(64)}`;
const fees = { gasLimit: 40_000, maxFeePerGasWei: 1n, maxPriorityFeePerGasWei: 0n };

async function problemsOf(t: Test, content: object): Promise<readonly string[]> {
  const file = join(testFolder(t), "faucet.yaml");
  await writeFile(file, JSON.stringify(content));
  try {
    readFaucetConfig({ file, env: {} });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => problem.replace(file, "file"));
    throw error;
  }
}

t.test(
  "the shipped configuration pays 10 tokens, once an address and five times a client in 24 hours",
  async (t) => {
    const config = readFaucetConfig({ file: shipped, env: {} });
    t.match(config, {
      profile: "development",
      port: 4001,
      ops: { port: 5001 },
      private: { port: 4002, host: "127.0.0.1" },
      amount: 10n ** 19n,
      bodyBytesMax: 4096,
      limits: { perAddress: 1, perClient: 5, windowMs: 86_400_000 },
    });
  },
);

t.test("the file says what the defaults say, key by key", async (t) => {
  const file = join(testFolder(t), "faucet.yaml");
  await writeFile(file, JSON.stringify({ wallet: { developmentKey } }));
  const { wallet: _, allowlistFile: __, ...defaults } = readFaucetConfig({ file, env: {} });
  const { wallet: ___, allowlistFile: ____, ...written } = readFaucetConfig({ file: shipped, env: {} });
  t.same(written, defaults);
});

t.test("a development key is refused by the production profile", async (t) => {
  t.throws(() => readFaucetConfig({ file: shipped, env: {}, profile: "production" }), {
    name: "ConfigError",
    message: /wallet\.developmentKey: the production profile takes an encrypted keystore only/,
  });
});

t.test("the environment alone makes a production faucet of the shipped file", async (t) => {
  const env = {
    TOLLGATE_PROFILE: "production",
    FAUCET_KEYSTORE: "/run/secrets/faucet.json",
    FAUCET_KEYSTORE_PASSWORD_FILE: "/run/secrets/faucet-password",
    FAUCET_HOST: "0.0.0.0",
    FAUCET_ALLOWLIST: "/etc/tollgate/allowlist.yaml",
  };
  t.match(readFaucetConfig({ file: shipped, env }), {
    profile: "production",
    host: "0.0.0.0",
    allowlistFile: "/etc/tollgate/allowlist.yaml",
    wallet: {
      kind: "keystore",
      file: "/run/secrets/faucet.json",
      passwordFile: "/run/secrets/faucet-password",
    },
  });
});

t.test("what cannot be used is named", async (t) => {
  const wallet = { developmentKey };
  const cases: [object, RegExp][] = [
    [{}, /wallet/],
    [{ wallet: {} }, /wallet: a keystoreFile was expected, or .* a developmentKey/],
    [{ wallet: { developmentKey: "0x12" } }, /developmentKey: a private key/],
    [{ wallet, amount: "0" }, /amount: an amount of tokens above 0/],
    [{ wallet, amount: "0.0000000000000000001" }, /amount: .*18 decimals/],
    [{ wallet, trustedProxies: ["10.0.0.0/99"] }, /trustedProxies\[0\]/],
    [{ wallet, upstream: "ftp://x" }, /upstream: .*http/],
    [{ wallet, recordsKeptMs: 5 }, /recordsKeptMs: at least idempotencyMs and limits\.windowMs/],
    [{ wallet, inFlightMax: 500 }, /inFlightMax/],
    [{ wallet, ammount: "10" }, /ammount: this key is unknown/],
  ];
  for (const [content, problem] of cases) {
    t.match(await problemsOf(t, content), [problem], JSON.stringify(content));
  }
});

t.test(
  "an encrypted keystore opens with its password from a file or the configuration, and with no other",
  async (t) => {
    const wallet = new Wallet(developmentKey);
    const folder = testFolder(t, { password: "correct horse\n" });
    const file = join(folder, "keystore.json");
    // Few rounds of scrypt: the test is about us.
    await writeFile(file, await encryptKeystoreJson(wallet, "correct horse", { scrypt: { N: 2 } }));
    const source = { kind: "keystore" as const, file, passwordFile: "", password: "" };
    const open = (more: Partial<typeof source>) =>
      openWallet({ source: { ...source, ...more }, chainId: 8845, fees });
    t.equal((await open({ password: "correct horse" })).address, wallet.address);
    t.equal((await open({ passwordFile: join(folder, "password") })).address, wallet.address);
    await t.rejects(open({ password: "wrong" }), {
      message: /keystore cannot be opened.*password is another/,
    });
    await t.rejects(open({ passwordFile: join(folder, "none") }), {
      message: /password cannot be read \(ENOENT\)/,
    });
    await t.rejects(open({ file: join(folder, "none.json") }), {
      message: /keystore cannot be read \(ENOENT\)/,
    });
  },
);

t.test("the same payment always has the same bytes", async (t) => {
  const payment = {
    claimId: "0".repeat(32),
    address: new Wallet(developmentKey).address,
    amountWei: 1n,
    nonce: 5,
  };
  const source = { kind: "development" as const, privateKey: developmentKey };
  const [one, two] = await Promise.all([1, 2].map(() => openWallet({ source, chainId: 8845, fees })));
  t.same(await one?.sign(payment), await two?.sign(payment));
});
