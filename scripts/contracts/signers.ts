import { getAddress, isAddress } from "ethers/address";
import { Wallet } from "ethers/wallet";
import { CommandError } from "../../lib/cli/command.ts";
import { json, table } from "../../lib/cli/format.ts";
import { type FeeSource, feeSources, isFeeSource } from "../../lib/fee-collector/fee-sources.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { chainOptions, type OpenedChain, withChain } from "./chain-options.ts";
import type { CommandInput, ContractsCommand } from "./command.ts";
import { refuseWhatCannotBe, sendAll, signerStep } from "./deploy-contracts.ts";
import { ownerOptions, readOwnerKey } from "./owner-key.ts";
import { readAllowedSigners } from "./read-allowed-signers.ts";
import { readStanding } from "./read-standing.ts";

export const listSignersCommand: ContractsCommand = {
  name: "signers list",
  positionals: [],
  summary: "Tells whose signatures the FeeCollector takes, by source.",
  details: [],
  options: { ...chainOptions, json: { text: "as JSON" } },
  examples: ["signers list"],
  async run({ values, env, print }) {
    return await withChain({
      values,
      env,
      async use(chain) {
        await requireContract(chain);
        const { rpc, settings } = chain;
        const rights = await readAllowedSigners({ rpc, feeCollector: settings.feeCollector });
        if (values["json"] === true) print(json(rights));
        else
          print(
            table(
              ["source", "signer", "since block", "in the file"],
              rights.map(({ source, signer, sinceBlock }) => [
                source,
                signer,
                String(sinceBlock),
                isFeeSource(source) && settings.signers[source].includes(signer) ? "yes" : "no",
              ]),
            ),
          );
        return exitCodes.done;
      },
    });
  },
};

export const allowSignerCommand = changeCommand({
  word: "allow",
  allowed: true,
  summary: "Lets an account sign orders of a source.",
  details: ["Orders of two signers count at the same time: allow the next before the old one is revoked."],
});

export const revokeSignerCommand = changeCommand({
  word: "revoke",
  allowed: false,
  summary: "Takes from an account the right to sign orders of a source.",
  details: [
    "Orders that it has signed and that are not paid yet count no more, nor can their boxes be collected.",
  ],
});

function changeCommand({
  word,
  allowed,
  summary,
  details,
}: {
  word: string;
  allowed: boolean;
  summary: string;
  details: readonly string[];
}): ContractsCommand {
  return {
    name: `signers ${word}`,
    positionals: ["SOURCE", "ADDRESS"],
    summary,
    details: [...details, `SOURCE is one of ${feeSources.join(", ")}.`],
    options: { ...chainOptions, ...ownerOptions },
    examples: [`signers ${word} svc_dev 0x70997970C51812dc3A010C7d01b50e0d17dc79C8`],
    async run(input) {
      const { source, signer } = readSigner(input.positionals);
      return await withChain({
        values: input.values,
        env: input.env,
        use: (chain) => change({ chain, source, signer, allowed, input }),
      });
    },
  };
}

async function change({
  chain,
  source,
  signer,
  allowed,
  input: { values, env, note, print },
}: {
  chain: OpenedChain;
  source: FeeSource;
  signer: string;
  allowed: boolean;
  input: CommandInput;
}): Promise<0> {
  const owner = await requireContract(chain);
  const { rpc, chainId, settings } = chain;
  const { feeCollector } = settings;
  const rights = await readAllowedSigners({ rpc, feeCollector });
  if (rights.some((right) => right.source === source && right.signer === signer) === allowed) {
    note(`${signer} ${allowed ? "could" : "could not"} sign for ${source} already; nothing was changed.`);
    return exitCodes.done;
  }
  const wallet = new Wallet(await readOwnerKey({ owner, values, env }));
  if (wallet.address !== owner) {
    throw new CommandError(`The FeeCollector's owner is ${owner}, but the key is of ${wallet.address}.`, {
      exitCode: 1,
    });
  }
  const steps = [signerStep({ feeCollector, source, signer, allowed })];
  await sendAll({ rpc, chainId, wallet, steps, say: print });
  return exitCodes.done;
}

/** Answers the contract's owner. */
async function requireContract({ rpc, chainId, settings }: OpenedChain): Promise<string> {
  const standing = await readStanding({ rpc, settings });
  refuseWhatCannotBe(standing, chainId);
  if (standing.says !== undefined) return standing.says.owner;
  throw new CommandError(
    `There is no FeeCollector at ${settings.feeCollector}: npm run contracts -- deploy`,
    { exitCode: 1 },
  );
}

function readSigner([source = "", signer = ""]: readonly string[]): { source: FeeSource; signer: string } {
  if (!isFeeSource(source)) {
    throw new CommandError(`SOURCE: one of ${feeSources.join(", ")} was expected.`, { exitCode: 2 });
  }
  if (!isAddress(signer) || !signer.startsWith("0x")) {
    throw new CommandError("ADDRESS: 0x and 40 digits, with the right checksum (EIP-55), was expected.", {
      exitCode: 2,
    });
  }
  return { source, signer: getAddress(signer) };
}
