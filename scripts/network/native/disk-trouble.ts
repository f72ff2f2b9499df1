import { statfs } from "node:fs/promises";

/** On a disk with less than this Besu cannot write, whatever the share is. */
const freeBytesMin = 64 * 1024 * 1024;

type DiskSpace = { freeBytes: number; sizeBytes: number };

/** The status line for a full disk under a folder; undefined where there is room. */
export async function diskTrouble(
  folder: string,
  { bytesFree = lookAt }: { bytesFree?: (folder: string) => Promise<DiskSpace> } = {},
): Promise<string | undefined> {
  const seen = await bytesFree(folder).catch(() => undefined);
  if (seen === undefined || seen.freeBytes >= freeBytesMin) return undefined;
  return (
    `is stopped: its disk is full, ${megabytes(seen.freeBytes)} of ${megabytes(seen.sizeBytes)} MB are free at ${folder} ` +
    '(docker/RUNBOOK.md, chapter "Disk")'
  );
}

async function lookAt(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
