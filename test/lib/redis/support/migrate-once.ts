import { pino } from "pino";
import { migrateRedisData } from "../../../../lib/redis/migrate-data.ts";
import { createRedisClient } from "../../../../lib/redis/redis-client.ts";
import { sampleData } from "./sample-data.ts";

/** `migrate-once.ts URL [PIECES]` migrates as one of several processes, and kills itself with SIGKILL after so many pieces. */
const [url = "", pieces] = process.argv.slice(2);
const logger = pino({ level: "silent" });
const redis = createRedisClient({ url, name: "migrate-once", logger });
const data = sampleData({
  onPiece(count) {
    process.stdout.write(`piece ${count}\n`);
    if (count === Number(pieces)) process.kill(process.pid, "SIGKILL");
  },
});
const finished = await migrateRedisData({ redis, data, logger, version: "0.2.0", lockMs: 1000 });
process.stdout.write(`${JSON.stringify(finished)}\n`);
redis.disconnect();
