import { parseEther } from "ethers/utils";
import { CommandError, type OptionTable, textOf, type Values } from "../lib/cli/command.ts";
import { count, fields, json, table } from "../lib/cli/format.ts";
import { ConfigError } from "../lib/config/read-config.ts";
import { quorumOf } from "../lib/ibft/quorum.ts";
import type { GenesisCommand } from "./command.ts";
import { type NetworkConfig, readNetworkConfig } from "./config.ts";
import { type NetworkPlan, planNetwork } from "./network-files.ts";
import { createNodeKey } from "./node-key.ts";
import { type WrittenNetwork, writeNetwork } from "./write-network.ts";

/** The option for each setting of config/network.yaml that has one; of these, numbers. */
const optionOf: Readonly<Record<string, string>> = {
  folder: "out",
  validators: "validators",
  consensus: "consensus",
  chainId: "chain-id",
  blockSeconds: "block-seconds",
  profile: "profile",
};
const numbers: readonly string[] = ["validators", "chainId", "blockSeconds"];

const options: OptionTable = {
  out: { value: "FOLDER", text: "where the network's files go" },
  validators: { value: "N", text: "how many validators" },
  consensus: { value: "NAME", text: "ibft2 or qbft" },
  "chain-id": { value: "N", text: "the chain ID, in decimal" },
  "block-seconds": { value: "N", text: "the time between two blocks" },
  profile: { value: "NAME", text: "development or production" },
  config: { value: "FILE", text: "where the defaults of all these stand (config/network.yaml)" },
  force: { text: "moves a network that is there aside, with a time stamp" },
};

export const initCommand: GenesisCommand = {
  name: "init",
  positionals: [],
  summary: "Makes a network: keys, genesis.json, static-nodes.json, a config.toml for each validator.",
  details: [
    "Private keys are readable by their owner only, and the folder keeps itself out of git. Exits with 2 where a network",
    "is there already.",
  ],
  options,
  examples: ["init --validators 5 --out network", "init --profile production --chain-id 8845 --out network"],
  async run({ values, env, now, print, note }) {
    const config = readSettings({ values, env });
    const plan = planNetwork({ config, createKey: createNodeKey });
    const written = await writeNetwork({
      folder: config.folder,
      files: plan.files,
      force: values["force"] === true,
      now,
    });
    if ("refused" in written) {
      note(written.refused);
      return 2;
    }
    print(
      values["json"] === true ? json(toJson({ config, plan, written })) : summary({ config, plan, written }),
    );
    return 0;
  },
};

function readSettings({
  values,
  env,
}: {
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
}): NetworkConfig {
  const overrides = Object.fromEntries(
    Object.entries(optionOf).flatMap(([setting, option]) => {
      const text = textOf(values, option);
      if (text === undefined) return [];
      return [[setting, numbers.includes(setting) ? readNumber(option, text) : text]];
    }),
  );
  try {
    return readNetworkConfig({ file: textOf(values, "config") ?? "config/network.yaml", env, overrides });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => atOption(problem, overrides)));
  }
}

/** What is wrong with a value of the command line is said of its option, not of the file's line. */
function atOption(problem: string, overrides: Readonly<Record<string, unknown>>): string {
  const match = /^.*?:\d+: (\w+): (.*)$/.exec(problem);
  const [, setting = "", words] = match ?? [];
  return setting in overrides ? `--${optionOf[setting]}: ${words}` : problem;
}

function readNumber(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CommandError(`--${option}: a whole number was expected, got "${text}".`, { exitCode: 2 });
}

type Made = { config: NetworkConfig; plan: NetworkPlan; written: WrittenNetwork };

function toJson({ config, plan: { manifest, accounts }, written }: Made) {
  return {
    ...written,
    ...manifest,
    profile: config.profile,
    quorum: quorumOf(config.validators),
    accounts: accounts.map(({ name, address, tokens, key }) => ({
      name,
      address,
      balanceWei: String(parseEther(String(tokens))),
      ...(key === undefined ? {} : { keyFile: `accounts/${name}.key` }),
    })),
  };
}

function summary({ config, plan: { manifest, accounts }, written }: Made): string {
  const { folder, movedTo } = written;
  const quorum = quorumOf(config.validators);
  const spare = config.validators - quorum;
  const hex = `0x${config.chainId.toString(16)}`;
  return [
    `A network of ${config.validators} validators is in ${folder}.`,
    ...(movedTo === undefined ? [] : [`What was there is now ${movedTo}.`]),
    "",
    fields([
      ["consensus", config.consensus === "ibft2" ? "IBFT 2.0" : "QBFT"],
      ["chain ID", `${config.chainId} (${hex})`],
      ["genesis hash", manifest.genesisHash],
      ["blocks", `every ${config.blockSeconds} s, no fees, ${count(config.gasLimit)} gas`],
      ["quorum", `${quorum} of ${config.validators}: ${spare === 0 ? "none" : spare} may be down`],
      ["state", config.node.storage === "forest" ? "of every block (forest)" : "of 512 blocks (bonsai)"],
    ]),
    "",
    table(
      ["VALIDATOR", "ADDRESS", "IN CONTAINERS"],
      manifest.validators.map(({ name, address, host, httpPort }) => [name, address, `${host}:${httpPort}`]),
    ),
    "",
    table(
      ["ACCOUNT", "ADDRESS", "TOKENS", "KEY"],
      accounts.map(({ name, address, tokens, key }) => [
        name,
        address,
        count(tokens),
        key === undefined ? "yours" : `${folder}/accounts/${name}.key`,
      ]),
    ),
    ...(config.profile === "production"
      ? []
      : [
          "",
          `The ten public development accounts hold ${count(config.allocation.developmentAccounts.tokens)} tokens each: anybody`,
          "can spend them. --profile production leaves them out.",
        ]),
    "",
    `To bring it up: npm run network -- up --folder ${folder}`,
    "That is in containers; with --native, as processes of the Besu that BESU_HOME names.",
  ].join("\n");
}
