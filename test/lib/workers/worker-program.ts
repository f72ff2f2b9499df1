import { setTimeout as wait } from "node:timers/promises";
import { openWorkerLink } from "../../../lib/workers/worker-link.ts";

/** A worker that serves nobody: it hangs, or does not hear that it should stop, where its task says so. */
const link = await openWorkerLink();
if (link !== undefined) {
  link.say({ kind: "up", settings: undefined });
  link.answer("echo", (value) => value);
  link.answer("fail", () => {
    throw new Error("not today");
  });
  link.answer("hang", () => {
    for (;;);
  });
  const { why } = await link.stopped;
  if (link.task.settings === "deaf" && why === "asked") await wait(60_000);
  link.say({ kind: "bye", metrics: ["last words"] });
  link.close();
}
