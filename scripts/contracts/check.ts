import { burnSinkAddress } from "../../lib/fee-collector/fee-addresses.ts";
import type { FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { chainOptions, withChain } from "./chain-options.ts";
import type { ContractsCommand } from "./command.ts";
import { refuseWhatCannotBe } from "./deploy-contracts.ts";
import { readAllowedSigners, type SignerRight } from "./read-allowed-signers.ts";
import { type ContractsStanding, readStanding } from "./read-standing.ts";

export const checkCommand: ContractsCommand = {
  name: "check",
  positionals: [],
  summary: "Holds a chain against config/fees.yaml: code, owner, treasury, burn sink, signers.",
  details: [
    "Exit code 1, and what differs, where something does. A signer that the file does not name differs, too.",
  ],
  options: chainOptions,
  examples: ["check", "check --rpc http://127.0.0.1:8610"],
  async run({ values, env, print, note }) {
    return await withChain({
      values,
      env,
      async use({ rpc, chainId, settings }) {
        const standing = await readStanding({ rpc, settings });
        refuseWhatCannotBe(standing, chainId);
        const allowed =
          standing.feeCollector === "right"
            ? await readAllowedSigners({ rpc, feeCollector: settings.feeCollector })
            : [];
        const found = differences({ standing, settings, allowed });
        for (const text of found) note(text);
        if (found.length > 0) return exitCodes.failed;
        print(`FeeCollector ${settings.feeCollector} is as config/fees.yaml says.`);
        return exitCodes.done;
      },
    });
  },
};

function differences({
  standing: { burnSink, feeCollector, says, missingSigners },
  settings,
  allowed,
}: {
  standing: ContractsStanding;
  settings: FeeSettings;
  allowed: readonly SignerRight[];
}): string[] {
  if (burnSink === "missing")
    return [`There is no burn sink at ${burnSinkAddress}: npm run contracts -- deploy`];
  if (feeCollector === "missing" || says === undefined) {
    return [`There is no FeeCollector at ${settings.feeCollector}: npm run contracts -- deploy`];
  }
  const unknown = allowed.filter(({ source, signer }) =>
    Object.entries(settings.signers).every(([name, signers]) => name !== source || !signers.includes(signer)),
  );
  return [
    ...(says.owner === settings.owner
      ? []
      : [`The owner is ${says.owner}, not ${settings.owner}: it was changed on chain.`]),
    ...(says.treasury === settings.treasury
      ? []
      : [`The treasury is ${says.treasury}, not ${settings.treasury}: it was changed on chain.`]),
    ...(says.burnSink === burnSinkAddress ? [] : [`Its burn sink is ${says.burnSink}.`]),
    ...missingSigners.map(
      ({ source, signer }) => `${signer} may not sign for ${source}: npm run contracts -- deploy`,
    ),
    ...unknown.map(
      ({ source, signer }) =>
        `${signer} may sign for ${source}, and is not in the file: npm run contracts -- signers revoke ${source} ${signer}`,
    ),
  ];
}
