import { spawn } from "node:child_process";
import type { RunAttached } from "./inside.ts";

/** On our own streams. A terminal's Ctrl-C reaches both; what was begun ends first. */
export const runAttached: RunAttached = ({ program, args, env }) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...env } });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 130));
  });
