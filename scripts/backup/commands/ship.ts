import { CommandError } from "../../../lib/cli/command.ts";
import { json } from "../../../lib/cli/format.ts";
import { readWriterKeys } from "../archive/key-files.ts";
import { shipWal } from "../archive/wal-archive.ts";
import type { BackupCommand } from "../command.ts";
import { createRevocationShipper } from "../parts/revoked-keys.ts";

export const shipCommand: BackupCommand = {
  name: "ship",
  positionals: [],
  summary:
    "Takes what PostgreSQL has put into the spool of its log, and which keys of merchants were revoked, once.",
  details: ["The service of the compose file does it every few seconds."],
  options: {},
  examples: ["ship"],
  async run({ config, json: asJson, print }) {
    if (config.walSpool === "") {
      throw new CommandError("walSpool of the configuration names no folder (BACKUP_WAL_SPOOL).", {
        exitCode: 2,
      });
    }
    const keys = await readWriterKeys(config.keys);
    const shipped = await shipWal({ spool: config.walSpool, to: config.to, keys });
    const revoked =
      config.postgres === ""
        ? 0
        : await createRevocationShipper({ url: config.postgres, to: config.to, keys })();
    print(asJson ? json({ shipped, revoked }) : `${shipped.length} files of the log are in ${config.to}.`);
  },
};
