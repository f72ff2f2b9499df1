import { open } from "node:fs/promises";

/** Has the names of a folder's files on the disk: without it a power cut can take back a rename (fsync(2)). */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
