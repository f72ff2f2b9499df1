import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Teardown } from "../../processes/teardown.ts";

const feesFile = fileURLToPath(new URL("../../../config/fees.yaml", import.meta.url));
const many = 1_000_000;

/** The configuration of an api with quick polls and limits that nobody meets, as a file. */
export async function writeConfig(
  t: Teardown,
  { postgresUrl, redisUrl, chainUrl }: { postgresUrl: string; redisUrl: string; chainUrl: string },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-crashes-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "api.yaml");
  // JSON is YAML.
  await writeFile(
    file,
    JSON.stringify({
      ...{ port: 0, ops: { port: 0 }, redis: redisUrl, postgres: { url: postgresUrl } },
      ...{
        upstream: chainUrl,
        contractsFolder: "",
        feesFile,
        headPollMs: 100,
        ledger: { pollMs: 200 },
      },
      limits: { points: many },
      session: { noncesPerMinute: many, signInsPerMinute: many },
    }),
  );
  return file;
}
