import { createInterface } from "node:readline";
import { pino } from "pino";
import { Registry } from "prom-client";
import { createFollower } from "../../../api/follower/follower.ts";
import { createHeadWatch } from "../../../api/follower/head-watch.ts";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";

/**
 * A follower process. When it reaches a named point for the nth time it kills itself with SIGKILL, or reports the point
 * and waits while a dependency is struck. `CRASH_AT` is the first point (`kill:point:n`, `wait:point:n`, or empty).
 * Each line of its input is the next point, and lets it go on.
 */
const env = (name: string) => process.env[name] ?? "";
const logger = pino({ level: "silent" });
const rpc = createRpcClient({ url: env("CRASH_CHAIN"), timeoutMs: 5000 });
const heads = createHeadWatch({ rpc, pollMs: () => 50, logger });

let [what, crashPoint, count = "1"] = env("CRASH_AT").split(":");
let passed = 0;
let goOn = Promise.withResolvers<void>();

createInterface({ input: process.stdin }).on("line", (line) => {
  [what, crashPoint, count = "1"] = line.split(":");
  passed = 0;
  goOn.resolve();
});

const follower = createFollower({
  rpc,
  heads,
  logger,
  registry: new Registry(),
  postgresUrl: env("CRASH_POSTGRES"),
  lock: BigInt(env("CRASH_LOCK")),
  isDevelopment: true,
  arrayBlocksMax: 5,
  pollMs: 50,
  sessionPollMs: 50,
  retryMinMs: 20,
  async atPoint(point) {
    if (point !== crashPoint) return;
    passed += 1;
    if (passed !== Number(count)) return;
    if (what === "kill") process.kill(process.pid, "SIGKILL");
    goOn = Promise.withResolvers();
    process.stdout.write("waits\n");
    await goOn.promise;
  },
});
heads.start();
follower.start();
