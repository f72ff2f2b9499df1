import { spawn } from "node:child_process";

export type Ended = { code: number | null; out: string; err: string };

const textCharsMax = 65_536;

/** Runs a program until it ends. @returns its exit code (null: it could not be started) and the ends of what it said. */
export function runToEnd({
  program,
  args,
  env,
}: {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...env } });
    let [out, err] = ["", ""];
    child.stdout.on("data", (piece: Buffer) => {
      out = (out + piece.toString()).slice(-textCharsMax);
    });
    child.stderr.on("data", (piece: Buffer) => {
      err = (err + piece.toString()).slice(-textCharsMax);
    });
    child.once("error", (error) => resolve({ code: null, out, err: error.message }));
    child.once("close", (code, signal) =>
      resolve({ code, out, err: err.trim() || (signal === null ? "" : `it was ended by ${signal}`) }),
    );
  });
}
