import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Manifest } from "../../../genesis/manifest.ts";
import { CommandError } from "../../../lib/cli/command.ts";

const bft = z.object({ epochlength: z.int().positive() });
const schema = z.object({ config: z.object({ ibft2: bft.optional(), qbft: bft.optional() }) });

/** After how many blocks votes begin anew, by the network's genesis file. Throws a CommandError where it does not say. */
export async function readEpochBlocks(
  folder: string,
  { consensus }: Pick<Manifest, "consensus">,
): Promise<number> {
  const file = join(folder, "genesis.json");
  try {
    const epoch = schema.parse(JSON.parse(await readFile(file, "utf8"))).config[consensus]?.epochlength;
    if (epoch !== undefined) return epoch;
  } catch {
    // Told below.
  }
  throw new CommandError(`${file} does not say after how many blocks an epoch ends.`, { exitCode: 1 });
}
