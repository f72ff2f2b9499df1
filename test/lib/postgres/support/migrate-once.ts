import { pino } from "pino";
import { migrate } from "../../../../lib/postgres/migrate.ts";

/** `migrate-once.ts URL FOLDER` migrates and says what it carried out, as one of several processes would. */
const [url = "", folder = ""] = process.argv.slice(2);
const logger = pino({ level: "silent" });
process.stdout.write(`${JSON.stringify(await migrate({ url, folder: new URL(folder), logger }))}\n`);
