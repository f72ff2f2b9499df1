import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Teardown } from "../../processes/teardown.ts";

const program = fileURLToPath(new URL("receivers.ts", import.meta.url));
const standing = z.record(z.string(), z.object({ requests: z.int(), events: z.int() }));

export type Receivers = Awaited<ReturnType<typeof startReceivers>>;

/** Receivers in a process of their own. It ends with its owner. */
export async function startReceivers(t: Teardown) {
  const child = fork(program, { execArgv: ["--disable-warning=ExperimentalWarning"] });
  t.teardown(() => child.kill());
  const [message] = await once(child, "message");
  const { port } = z.object({ port: z.int() }).parse(message);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    /** Different events by path: `/quick/…` answers, `/fails/…` answers 500, `/hangs/…` never does. */
    async counts() {
      return standing.parse(await (await fetch(url)).json());
    },
  };
}
