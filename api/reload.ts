import { hash } from "node:crypto";
import type { Logger } from "pino";
import { namesOf } from "../lib/reload/reload-table.ts";
import { createReloader, type ReadAgain, type Reloader, type Staging } from "../lib/reload/reloader.ts";
import { takeLive } from "../lib/reload/take-live.ts";
import type { KnownContract } from "./chain/known-contracts.ts";
import { readContracts } from "./chain/read-contracts.ts";
import type { ApiConfig } from "./config.ts";
import type { Parts } from "./create-parts.ts";
import { reloadTable } from "./reload-table.ts";

/** The configuration, and what stands in the folder that it names. */
export type Settings = { config: ApiConfig; contracts: readonly KnownContract[] };

const live = namesOf(reloadTable.live);

export type ApiReloader = Reloader & Staging<Settings>;

/** Has a running API read its configuration and its contracts' ABIs again. */
export function createApiReloader({
  running,
  readAgain,
  parts,
  logger,
}: {
  /** Its `config` is what the API's parts read: that is changed in place. */
  running: Settings;
  readAgain: ReadAgain<ApiConfig>;
  parts: Pick<Parts, "useSettings">;
  logger: Logger;
}): ApiReloader {
  const load = (config: ApiConfig): Settings => ({
    config,
    contracts: readContracts(config.contractsFolder),
  });
  return createReloader({
    running,
    readAgain,
    load,
    comparable,
    live,
    secret: reloadTable.secret,
    prepare: ({ config, contracts }) => ({
      commit() {
        takeLive(running.config, config, live);
        running.contracts = contracts;
        logger.level = running.config.log.level;
        parts.useSettings({ contracts });
      },
    }),
    logger,
  });
}

/** Of a contract its address and a hash: an ABI is too long to be shown. */
function comparable({ config, contracts }: Settings): object {
  const files = contracts.map(({ name, ...contract }) => {
    const digest = hash("sha256", JSON.stringify(contract)).slice(0, 16);
    return [name, `${contract.address} ${digest}`];
  });
  const { contractsFolder: path, ...others } = structuredClone(config);
  return { ...others, contractsFolder: { path, ...Object.fromEntries(files) } };
}
