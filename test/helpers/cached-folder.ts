import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../node_modules/.cache/tollgate-tests/", import.meta.url));

/**
 * A folder that is filled once and then kept, one for each `content` (what it is made from). It gets its name only when
 * it is whole, so that one that was interrupted is never used and two test runs may fill it at the same time.
 */
export async function cachedFolder({
  name,
  content,
  fill,
}: {
  name: string;
  content: string;
  fill: (folder: string) => Promise<void>;
}): Promise<string> {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  const folder = join(root, `${name}-${hash}`);
  if (existsSync(folder)) return folder;
  await mkdir(root, { recursive: true });
  const making = await mkdtemp(`${folder}.`);
  try {
    await fill(making);
    await rename(making, folder);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
