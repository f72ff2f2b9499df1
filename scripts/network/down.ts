import { json } from "../../lib/cli/format.ts";
import type { NetworkCommand } from "./command.ts";

export const downCommand: NetworkCommand = {
  name: "down",
  positionals: [],
  summary: "Stops the validators; their chain stays.",
  details: ["Only what was started by this program is stopped."],
  options: {},
  examples: ["down --native"],
  async run({ nodes, json: asJson, print }) {
    const running = await Promise.all(nodes.list.map(({ name }) => nodes.isRunning(name)));
    if (nodes.beside !== undefined) await nodes.beside.down();
    else await Promise.all(nodes.list.map(({ name }) => nodes.stop(name)));
    const stopped = nodes.list.flatMap(({ name }, index) => (running[index] ? [name] : []));
    if (asJson) print(json({ stopped }));
    else print(stopped.length === 0 ? "No validator was running." : `Stopped: ${stopped.join(", ")}.`);
    return 0;
  },
};
