import { bringUp, tellNotUp } from "./bring-up.ts";
import type { NetworkCommand } from "./command.ts";
import { deployFees } from "./deploy-fees.ts";
import { showStatus } from "./show-status.ts";

export const upCommand: NetworkCommand = {
  name: "up",
  positionals: [],
  summary: "Starts the validators that do not run and waits for the next block.",
  details: [
    "They run on after this command has ended. Ctrl-C before the first block stops what was started. Where all of them run",
    "already nothing is changed. The contract that takes fees is deployed where it is not there yet.",
  ],
  options: {},
  examples: ["up --native"],
  async run(input) {
    const { nodes, note, json, print, signal, progress } = input;
    const running = await Promise.all(nodes.list.map(({ name }) => nodes.isRunning(name)));
    const names = nodes.list.flatMap(({ name }, index) => (running[index] ? [] : [name]));
    const result = names.length === 0 ? undefined : await bringUp({ nodes, names, signal, progress });
    if (result !== undefined && "failed" in result) return tellNotUp(result, note);
    const beside = await nodes.beside?.up(signal);
    if (beside !== undefined) {
      const failed = `The validators run, but what belongs to them could not be started: ${beside.failed}`;
      return tellNotUp({ failed, interrupted: signal.aborted, runsOn: true }, note);
    }
    await deployFees(input);
    if (result === undefined) {
      if (!json) print("All validators run already; nothing was changed.\n");
      await showStatus(input, { started: [] });
      return 0;
    }
    const tookSeconds = Math.round(result.tookMs / 1000);
    if (!json) print(`The network is up: block ${result.height} after ${tookSeconds} s.\n`);
    await showStatus(input, { started: names, tookSeconds });
    return 0;
  },
};
