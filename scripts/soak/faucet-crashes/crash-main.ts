import { pino } from "pino";
import { readFaucetConfig } from "../../../faucet/config.ts";
import { start } from "../../../faucet/start.ts";

/**
 * A faucet process that kills itself with SIGKILL when it reaches a named point for the nth time. `CRASH_CONFIG` is its
 * configuration; `CRASH_AT` (`point:n`) is the point, if any.
 */
const [crashPoint, crashCount = "1"] = (process.env["CRASH_AT"] ?? "").split(":");
let passed = 0;

const faucet = await start(readFaucetConfig({ file: process.env["CRASH_CONFIG"] ?? "", env: {} }), {
  logger: pino({ level: "silent" }),
  atPoint(point) {
    if (point !== crashPoint) return;
    passed += 1;
    if (passed === Number(crashCount)) process.kill(process.pid, "SIGKILL");
  },
});
process.stdout.write(`${JSON.stringify({ crashMainPort: faucet.address.port })}\n`);
process.once("SIGTERM", () => faucet.stop());
