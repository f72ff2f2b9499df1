import { CommandError, textOf } from "../../../lib/cli/command.ts";
import { json } from "../../../lib/cli/format.ts";
import type { CommandInput, ExitCode, NetworkCommand } from "../command.ts";
import { withChangeLock } from "../validators/change-lock.ts";
import { besuNodes } from "./besu-nodes.ts";
import { serviceNames } from "./services.ts";
import {
  type BesuPlan,
  besuSteps,
  planBesu,
  type Upgraded,
  type UpgradeTimes,
  upgradeBesu,
} from "./upgrade-besu.ts";
import { planServices, type ServicePlan, serviceSteps, upgradeServices } from "./upgrade-services.ts";

const secondsDefaults = { sync: 900, watch: 60 };
const secondsMax = 86_400;

export const upgradeCommand: NetworkCommand = {
  name: "upgrade",
  positionals: [],
  summary: "Brings Besu and our own processes to another version, one after the other.",
  details: [
    "Each has to do well before the next one is touched: a validator has all blocks, proposes or seals, and stays so, with all others; our processes",
    "are ready and answer. One that does not goes back to what it ran, and the upgrade ends there. Refused where a validator is down already.",
    "Run again after it was interrupted, it goes on where it was. versions.json in the network's folder says what each runs.",
  ],
  options: {
    besu: { value: "VERSION", text: "an image, or with --native the folder of an unpacked Besu" },
    image: { value: "IMAGE", text: "of gateway, faucet and api, in containers" },
    only: { value: "NAME", text: "this one alone, such as 3 or gateway", multiple: true },
    "watch-seconds": {
      value: "N",
      text: "how long each has to do well",
      default: String(secondsDefaults.watch),
    },
    "sync-seconds": {
      value: "N",
      text: "how long a validator may take for the blocks",
      default: String(secondsDefaults.sync),
    },
    "allow-downgrade": { text: "also to a version that is older than what runs" },
    "dry-run": { text: "says what would be done, and does nothing" },
  },
  examples: [
    "upgrade --besu hyperledger/besu:26.8.1 --dry-run",
    "upgrade --besu hyperledger/besu:26.8.1",
    "upgrade --image tollgate:0.2.0",
    "upgrade --native --besu /opt/besu-26.8.1 --only 3",
  ],
  async run(input) {
    const asked = readAsked(input);
    const begin = () => upgrade(input, asked);
    return input.values["dry-run"] === true ? begin() : withChangeLock(input.folder, begin);
  },
};

type Asked = UpgradeTimes & {
  besu: string | undefined;
  image: string | undefined;
  only: readonly string[];
  allowDowngrade: boolean;
};

async function upgrade(input: CommandInput, asked: Asked): Promise<ExitCode> {
  const { besu, image } = asked;
  const services = input.nodes.services;
  if (image !== undefined && services === undefined) {
    return fail(input, {
      failed: "--image is for containers: as processes of this machine ours are started by npm.",
      code: 2,
    });
  }
  // Both are looked at before either is begun.
  const besuPlan = besu === undefined ? undefined : await planBesu(input, { ...asked, to: besu });
  if (besuPlan !== undefined && "failed" in besuPlan) return fail(input, besuPlan);
  const servicePlan =
    image === undefined || services === undefined
      ? undefined
      : await planServices(input, services, { ...asked, to: image });
  if (servicePlan !== undefined && "failed" in servicePlan) return fail(input, servicePlan);
  if (input.values["dry-run"] === true) return tellPlan(input, asked, { besuPlan, servicePlan });

  const upgraded: Upgraded[] = [];
  if (besuPlan !== undefined) {
    const done = await upgradeBesu(input, besuPlan, asked);
    if ("failed" in done) return fail(input, done);
    upgraded.push(done);
  }
  if (servicePlan !== undefined && services !== undefined) {
    const done = await upgradeServices(input, services, servicePlan, asked);
    if ("failed" in done) return fail(input, done);
    upgraded.push(done);
  }
  if (input.json) input.print(json({ upgraded }));
  else for (const done of upgraded) input.print(doneText(done));
  return 0;
}

function tellPlan(
  input: CommandInput,
  times: UpgradeTimes,
  { besuPlan, servicePlan }: { besuPlan: BesuPlan | undefined; servicePlan: ServicePlan | undefined },
): ExitCode {
  const steps = [
    ...(besuPlan === undefined ? [] : besuSteps(besuPlan, times, input.nodes)),
    ...(servicePlan === undefined ? [] : serviceSteps(servicePlan, times)),
  ];
  if (input.json) input.print(json({ steps }));
  else if (steps.length === 0) input.print("Nothing is to be done: all run it already.");
  else input.print(steps.map((step, index) => `${index + 1}. ${step}`).join("\n"));
  return 0;
}

function doneText({ version, to, changed, unchanged }: Upgraded): string {
  if (changed.length === 0)
    return `${unchanged.join(", ")} run ${version} (${to}) already; nothing was changed.`;
  const before = unchanged.length === 0 ? "" : ` ${unchanged.join(", ")} did before.`;
  return `${changed.join(", ")} run${changed.length === 1 ? "s" : ""} ${version} (${to}).${before}`;
}

function readAsked(input: CommandInput): Asked {
  const { values } = input;
  const [besu, image] = [textOf(values, "besu"), textOf(values, "image")];
  if (besu === undefined && image === undefined)
    throw new CommandError("Which version is missing: --besu VERSION, --image IMAGE, or both.", {
      exitCode: 2,
    });
  const only = values["only"];
  return {
    ...{ besu, image },
    only: Array.isArray(only) ? only.map((word) => nameOf(input, String(word), { besu, image })) : [],
    allowDowngrade: values["allow-downgrade"] === true,
    watchMs: 1000 * readSeconds(values["watch-seconds"], "watch-seconds", secondsDefaults.watch),
    syncWithinMs: 1000 * readSeconds(values["sync-seconds"], "sync-seconds", secondsDefaults.sync),
  };
}

function nameOf(
  { nodes }: CommandInput,
  word: string,
  { besu, image }: { besu: string | undefined; image: string | undefined },
): string {
  const name = /^\d+$/.test(word) ? `validator-${Number(word)}` : word;
  const known = [
    ...(besu === undefined ? [] : besuNodes(nodes).map((node) => node.name)),
    ...(image === undefined ? [] : serviceNames),
  ];
  if (known.includes(name)) return name;
  throw new CommandError(`--only: there is no ${word} to upgrade: ${known.join(", ")} were expected.`, {
    exitCode: 2,
  });
}

function readSeconds(value: unknown, name: string, otherwise: number): number {
  if (value === undefined) return otherwise;
  const seconds = Number(value);
  if (typeof value === "string" && /^\d+$/.test(value) && seconds <= secondsMax) return seconds;
  throw new CommandError(`--${name}: a number of seconds up to ${secondsMax} was expected.`, { exitCode: 2 });
}

function fail(
  { note }: Pick<CommandInput, "note">,
  { failed, code }: { failed: string; code: ExitCode },
): ExitCode {
  note(failed);
  return code;
}
