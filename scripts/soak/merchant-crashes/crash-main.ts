import { pino } from "pino";
import { readApiConfig } from "../../../api/config.ts";
import { start } from "../../../api/start.ts";
import { plantFault } from "./plant-fault.ts";

/**
 * An API that kills itself with SIGKILL when it reaches a named point for the nth time. `CRASH_CONFIG` is its configuration;
 * `CRASH_AT` (`point:n`) is the point, if any; `CRASH_PLANT` a fault that the harness has to find.
 */
const [crashPoint, crashCount = "1"] = (process.env["CRASH_AT"] ?? "").split(":");
let passed = 0;

/** What takes days takes seconds here: receivers hang for half a second, and what a dead process has claimed is free after two. */
const webhookTimes = {
  timeoutMs: 500,
  leaseForSeconds: 2,
  scheduleMs: Array.from({ length: 50 }, () => 100),
};

plantFault(process.env["CRASH_PLANT"] ?? "");
const api = await start(readApiConfig({ file: process.env["CRASH_CONFIG"] ?? "", env: {} }), {
  logger: pino({ level: "silent" }),
  webhookTimes,
  atPoint(point) {
    if (point !== crashPoint) return;
    passed += 1;
    if (passed === Number(crashCount)) process.kill(process.pid, "SIGKILL");
  },
});
process.stdout.write(`${JSON.stringify({ crashMainPort: api.address.port })}\n`);
process.once("SIGTERM", () => api.stop());
