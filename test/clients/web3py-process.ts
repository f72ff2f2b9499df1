import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { memberAt } from "./member-at.ts";

const script = fileURLToPath(new URL("web3py.py", import.meta.url));

/**
 * Starts `web3py.py`, which takes a task a line and answers with a line. It ends with the test, and by itself where we are
 * killed, since its input then ends.
 *
 * @returns a function that gives it one task at a time: it resolves with the result and rejects with what Python caught.
 */
export function startWeb3py(t: Teardown, { python }: { python: string }): (task: object) => Promise<unknown> {
  const child = spawn(python, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  t.teardown(async () => {
    child.stdin.end();
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (task) => {
    child.stdin.write(`${JSON.stringify(task)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error("Python has ended");
    const outcome: unknown = JSON.parse(value);
    const error = memberAt(outcome, "error");
    if (error !== undefined) throw error;
    return memberAt(outcome, "result");
  };
}
