import { spawn } from "node:child_process";
import type { ProgramLine } from "./nodes.ts";

/** Runs a program on this terminal and our streams. @returns its exit code. */
export type RunAttached = (command: ProgramLine) => Promise<number>;

/** Uses our own streams. A terminal's Ctrl-C reaches both processes; the child ends first. */
export const runAttached: RunAttached = ({ program, args, env }) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...env } });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 130));
  });
