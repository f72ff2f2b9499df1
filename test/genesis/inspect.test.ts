import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createGenesis, type GenesisSettings } from "../../genesis/genesis-file.ts";
import { inspectGenesis } from "../../genesis/inspect/inspect-genesis.ts";
import { deterministicDeployer } from "../../genesis/known-accounts.ts";
import { runGenesis } from "../../genesis/run-genesis.ts";
import { developmentAccounts } from "../../lib/chain/development-accounts.ts";
import { encodeExtraData } from "../../lib/ibft/extra-data.ts";
import { testFolder } from "../helpers/test-folder.ts";

const now = () => new Date("2026-11-21T00:00:00Z");
const besusFile = fileURLToPath(new URL("../vectors/besu-genesis.json", import.meta.url));
const validators = [1, 2, 3, 4, 5].map((digit) => `0x${String(digit).repeat(40)}`);
const settings: GenesisSettings = {
  consensus: "ibft2",
  chainId: 8845,
  validators,
  blockSeconds: 2,
  requestTimeoutSeconds: 4,
  epochBlocks: 30_000,
  gasLimit: 30_000_000,
  accounts: [{ address: `0x${"ab".repeat(20)}`, tokens: 5 }],
};
const good = createGenesis(settings);

function inspect(genesis: unknown) {
  const inspected = inspectGenesis(JSON.stringify(genesis), { now });
  if ("problem" in inspected) throw new Error(inspected.problem);
  const { findings, ...rest } = inspected.inspection;
  const texts = (kind: string) => findings.filter((finding) => finding.kind === kind).map(({ text }) => text);
  return { ...rest, problems: texts("problem"), remarks: texts("remark") };
}

function withValidators(list: readonly string[]) {
  const extraData = {
    consensus: "ibft2" as const,
    vanity: `0x${"00".repeat(32)}`,
    vote: undefined,
    round: 0,
    seals: [],
  };
  return { ...good, extraData: encodeExtraData({ ...extraData, validators: list }) };
}

const withConfig = (changes: object) => ({ ...good, config: { ...good.config, ...changes } });
const withBft = (changes: object) =>
  withConfig({ ibft2: { blockperiodseconds: 2, epochlength: 30_000, requesttimeoutseconds: 4, ...changes } });
const withAlloc = (changes: object) => ({ ...good, alloc: { ...good.alloc, ...changes } });

t.test("there is nothing to say of a genesis file of our own", async (t) => {
  const { problems, remarks, ...rest } = inspect(good);
  t.same({ problems, remarks }, { problems: [], remarks: [] });
  t.match(rest, {
    consensus: "ibft2",
    chainId: 8845,
    quorum: 4,
    round: 0,
    blockSeconds: 2,
    gasLimit: 30_000_000n,
  });
  t.same(rest.validators, validators);
  t.same(
    rest.forks.map(({ name }) => name),
    ["London", "Shanghai", "Cancun"],
  );
  t.match(rest.accounts, [
    { balanceWei: 5n * 10n ** 18n },
    { codeBytes: 69, knownAs: "deterministic-deployment proxy" },
  ]);
});

t.test("Besu's own file has no problem; that its validators are not sorted is a remark", async (t) => {
  const { problems, remarks } = inspect(JSON.parse(readFileSync(besusFile, "utf8")));
  t.same(problems, []);
  t.match(remarks, [/not in ascending order/, /anybody can spend/, /deterministic-deployment proxy/]);
});

t.test("QBFT is read as well, also where keys are written in another case", async (t) => {
  const qbft = createGenesis({
    consensus: "qbft",
    chainId: 1,
    validators,
    blockSeconds: 5,
    requestTimeoutSeconds: 10,
    epochBlocks: 30_000,
    gasLimit: 30_000_000,
    accounts: [{ address: `0x${"ab".repeat(20)}`, tokens: 5 }],
  });
  const { mixHash, ...rest } = qbft;
  const { problems, consensus, blockSeconds } = inspect({
    ...rest,
    mixhash: mixHash.toUpperCase().replace("0X", "0x"),
  });
  t.same({ problems, consensus, blockSeconds }, { problems: [], consensus: "qbft", blockSeconds: 5 });
});

t.test("where a contract names the validators, that extraData names none is no problem", async (t) => {
  const { extraData } = createGenesis({ ...settings, consensus: "qbft", validators: [] });
  const qbft = {
    blockperiodseconds: 2,
    epochlength: 30_000,
    requesttimeoutseconds: 4,
    validatorContractAddress: `0x${"77".repeat(20)}`,
  };
  const { problems, remarks } = inspect({ ...withConfig({ ibft2: undefined, qbft }), extraData });
  t.same(problems, []);
  t.match(remarks, [/the contract "0x7777.* says who validates/]);
});

/** One thing wrong each, and how it is called. */
const mangled: readonly (readonly [string, unknown, RegExp])[] = [
  ["three validators", withValidators(validators.slice(0, 3)), /3 validators, fewer than 4: a quorum is 2/],
  ["a doubled one", withValidators([...validators, validators[4] ?? ""]), /5555 stands there twice/],
  ["no validator", withValidators([]), /names no validator/],
  [
    "the zero address",
    withValidators([`0x${"00".repeat(20)}`, ...validators]),
    /0x00…00 is named as a validator/,
  ],
  ["extraData cut off", { ...good, extraData: good.extraData.slice(0, 100) }, /extraData is not an RLP list/],
  ["no extraData", { ...good, extraData: undefined }, /extraData is missing/],
  ["extraData that is no text", { ...good, extraData: 5 }, /extraData is 5, not text/],
  ["a consensus without settings", withConfig({ ibft2: 5 }), /"ibft2" is 5; an object was expected/],
  [
    "extraData of QBFT",
    { ...good, extraData: createGenesis({ ...settings, consensus: "qbft" }).extraData },
    /form of QBFT while "config" says IBFT 2.0/,
  ],
  ["a round", { ...good, extraData: good.extraData.replace(/8400000000c0$/, "8400000007c0") }, /has round 7/],
  [
    "no consensus",
    withConfig({ ibft2: undefined, clique: {} }),
    /neither ibft2 nor qbft \(it has "clique"\)/,
  ],
  [
    "a timeout below the period",
    withBft({ requesttimeoutseconds: 2 }),
    /\(2\) is not above blockperiodseconds \(2\)/,
  ],
  ["a period of 0", withBft({ blockperiodseconds: 0 }), /blockperiodseconds is 0/],
  ["no London", withConfig({ londonBlock: undefined }), /londonBlock is missing/],
  ["a base fee", withConfig({ zeroBaseFee: undefined }), /zeroBaseFee is not true/],
  ["zeroBaseFee as text", withConfig({ zeroBaseFee: "true" }), /zeroBaseFee is "true"/],
  ["both kinds of base fee", withConfig({ fixedBaseFee: true }), /exclude each other/],
  ["Cancun before Shanghai", withConfig({ shanghaiTime: 10 }), /Cancun begins at 0, before Shanghai/],
  ["Cancun without Shanghai", withConfig({ shanghaiTime: undefined }), /Cancun is set without Shanghai/],
  ["a fork as text", withConfig({ cancunTime: "0" }), /Cancun's time is "0"/],
  ["proof of stake", withConfig({ terminalTotalDifficulty: 0 }), /beacon chain/],
  [
    "the misprinted chain ID",
    withConfig({ chainId: 8837 }),
    /0x2285; if 8845 was meant, its hex form is 0x228d/,
  ],
  ["no chain ID", withConfig({ chainId: undefined }), /chainId is missing/],
  ["another mixHash", { ...good, mixHash: `0x${"00".repeat(32)}` }, /mixHash is "0x0+"/],
  ["no mixHash", { ...good, mixHash: undefined }, /mixHash is missing/],
  ["another difficulty", { ...good, difficulty: "0x20000" }, /difficulty is "0x20000"; 0x1 was expected/],
  ["hardly any gas", { ...good, gasLimit: "0x5208" }, /gasLimit is 21000/],
  ["a time to come", { ...good, timestamp: "0x7fffffff" }, /in the future/],
  ["no accounts", { ...good, alloc: {} }, /gives nobody tokens/],
  ["alloc as a list", { ...good, alloc: [] }, /"alloc" is not an object/],
  ["an invalid address", withAlloc({ "0x1234": { balance: "1" } }), /"0x1234", which is not an address/],
  ["one account twice", withAlloc({ ["ab".repeat(20)]: { balance: "1" } }), /twice, with 0x and without/],
  [
    "one account twice, in other letters",
    withAlloc({ [`0x${"AB".repeat(20)}`]: {} }),
    /are the same to Besu/,
  ],
  [
    "a balance that is none",
    withAlloc({ [`0x${"cd".repeat(20)}`]: { balance: "5 tokens" } }),
    /the balance "5 tokens"/,
  ],
  [
    "other code for the proxy",
    withAlloc({ [deterministicDeployer.address.toLowerCase()]: { balance: "0", code: "0x00" } }),
    /other code than it/,
  ],
];

for (const [title, genesis, words] of mangled) {
  t.test(`a problem is named: ${title}`, async (t) => {
    const { problems } = inspect(genesis);
    t.ok(problems.length > 0);
    t.match(problems.join("\n"), words);
  });
}

t.test("all problems of one file are named at once", async (t) => {
  const { problems } = inspect({
    ...withValidators([...validators.slice(0, 2), validators[1] ?? ""]),
    mixHash: undefined,
    difficulty: "0x2",
    config: { ...good.config, londonBlock: undefined, chainId: 8837 },
  });
  for (const words of [/twice/, /fewer than 4/, /mixHash/, /difficulty/, /londonBlock/, /0x228d/]) {
    t.match(problems.join("\n"), words);
  }
});

t.test("public development accounts are remarked upon", async (t) => {
  const [address = ""] = developmentAccounts;
  t.match(inspect(withAlloc({ [address]: { balance: "0x1" } })).remarks, [/anybody can spend .*f39Fd6e5/]);
});

t.test("a file that is not JSON, or not an object, is refused", async (t) => {
  t.match(inspectGenesis("{", { now }), { problem: /not JSON/ });
  t.match(inspectGenesis("[]", { now }), { problem: /not an object/ });
});

t.test("the command exits with 0, 1 for a problem, 2 for a file that is not there", async (t) => {
  const run = async (...args: string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runGenesis({
      args: ["inspect", ...args],
      env: {},
      now,
      print: (text) => out.push(text),
      note: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
  const file = join(testFolder(t), "genesis.json");
  writeFileSync(file, JSON.stringify({ ...good, difficulty: "0x2" }));
  t.match(await run(besusFile), { code: 0, out: /0xd32262eb.*Nothing is wrong with it/s });
  t.match(await run(file), { code: 1, out: /PROBLEM {2}difficulty.*One problem/s });
  const asJson = await run(file, "--json");
  t.match(JSON.parse(asJson.out), { chainId: 8845, problems: [/difficulty/], remarks: [] });
  t.match(await run(`${file}.no`), { code: 2, err: /cannot be read \(ENOENT\)/ });
  t.match(await run(), { code: 2, err: /FILE is missing/ });
  writeFileSync(file, "no JSON");
  t.match(await run(file), { code: 1, err: /not JSON/ });
});
