import { createPause } from "../../faucet/claims/pause.ts";
import { json } from "../../lib/cli/format.ts";
import type { FaucetCommand } from "./command.ts";

export const pauseCommand: FaucetCommand = {
  name: "pause",
  positionals: [],
  summary: "Takes no claims and signs no payments, on every replica, until `resume`.",
  details: ["What is signed already is followed to its end."],
  options: {},
  examples: ["pause"],
  async run({ redis, json: asJson, print }) {
    const changed = await createPause({ redis }).pause();
    if (asJson) return print(json({ paused: true, changed }));
    print(changed ? "The faucet is paused." : "The faucet was paused already.");
  },
};

export const resumeCommand: FaucetCommand = {
  name: "resume",
  positionals: [],
  summary: "Ends a pause; claims that wait are paid.",
  details: [],
  options: {},
  examples: ["resume"],
  async run({ redis, json: asJson, print }) {
    const changed = await createPause({ redis }).resume();
    if (asJson) return print(json({ paused: false, changed }));
    print(changed ? "The faucet goes on." : "The faucet was not paused.");
  },
};
