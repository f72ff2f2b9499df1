import type { SingleProgram } from "../../../lib/cli/command.ts";
import { readProgram } from "../../../lib/cli/read-program.ts";
import { ConfigError } from "../../../lib/config/read-config.ts";
import { createLogger } from "../../../lib/logger.ts";
import { exitCodes } from "../../../lib/service/exit-codes.ts";
import { firstStopSignal } from "../../../lib/service/stop-signals.ts";
import { readBackupConfig } from "../config.ts";
import { start } from "./start.ts";

const program: SingleProgram = {
  invocation: "node scripts/backup/service/main.ts",
  summary: "Takes backups by itself, and encrypts PostgreSQL's log as it comes.",
  options: {
    config: { value: "FILE", text: "what is backed up, where to, how often", default: "config/backup.yaml" },
  },
};

const read = readProgram(program, process.argv.slice(2), ({ needText }) => ({ file: needText("config") }));
if (read.kind === "help") process.stdout.write(read.text);
else if (read.kind === "unusable") end(exitCodes.unusable, read.text);
else await run(read.options.file);

async function run(file: string): Promise<void> {
  try {
    const config = readBackupConfig({ file, env: process.env });
    const logger = createLogger({ name: "backup", ...config.log });
    const service = await start(config, { logger, now: Date.now, path: process.env["PATH"] });
    await firstStopSignal();
    await service.stop();
  } catch (error) {
    if (error instanceof ConfigError) end(exitCodes.unusable, `${error.message}\n`);
    else end(exitCodes.failed, `${error instanceof Error ? error.message : String(error)}\n`);
  }
}

function end(exitCode: number, text: string): void {
  process.stderr.write(text);
  process.exitCode = exitCode;
}
