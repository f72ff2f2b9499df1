import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";

export type PortHolder = { pid: number; command: string };

const run = promisify(execFile);
const lookupTimeoutMs = 5000;
/** The kernel's number of TCP_LISTEN in /proc/net/tcp (include/net/tcp_states.h). */
const listening = "0A";

/**
 * Which processes listen on a TCP port of this machine. Empty where none does, or where the system does not show
 * another user's process.
 */
export async function findPortHolders(port: number): Promise<readonly PortHolder[]> {
  const inodes = await listeningInodes(port);
  return inodes === undefined ? holdersByLsof(port) : holdersByInode(inodes);
}

/** Linux: the sockets that listen on the port; undefined where there is no /proc. */
async function listeningInodes(port: number): Promise<ReadonlySet<string> | undefined> {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8").catch(() => undefined)),
  );
  if (tables.every((table) => table === undefined)) return undefined;
  const portHex = port.toString(16).toUpperCase().padStart(4, "0");
  const inodes = new Set<string>();
  for (const line of tables.flatMap((table) => table?.split("\n") ?? [])) {
    // proc(5): sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode …
    const fields = line.trim().split(/\s+/);
    const inode = fields[9];
    if (fields[3] === listening && fields[1]?.endsWith(`:${portHex}`) && inode !== undefined) {
      inodes.add(inode);
    }
  }
  return inodes;
}

async function holdersByInode(inodes: ReadonlySet<string>): Promise<PortHolder[]> {
  if (inodes.size === 0) return [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const holders: PortHolder[] = [];
  for (const pid of pids) {
    if (!(await holdsOneOf({ pid, inodes }))) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    holders.push({ pid, command: command.replaceAll("\0", " ").trim() });
  }
  return holders;
}

async function holdsOneOf({ pid, inodes }: { pid: number; inodes: ReadonlySet<string> }): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  // Another user's process, or one that has just ended, shows none.
  const names = await readdir(folder).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => "")));
  return targets.some((target) => inodes.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? ""));
}

/** macOS and the BSDs. lsof exits with 1 where nobody listens. */
export async function holdersByLsof(port: number): Promise<PortHolder[]> {
  const listed = await run("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fp"], {
    timeout: lookupTimeoutMs,
  }).catch(() => ({ stdout: "" }));
  const pids = [...listed.stdout.matchAll(/^p(\d+)$/gm)].map((match) => Number(match[1]));
  return Promise.all(
    pids.map(async (pid) => {
      const shown = await run("ps", ["-o", "command=", "-p", String(pid)], {
        timeout: lookupTimeoutMs,
      }).catch(() => ({ stdout: "" }));
      return { pid, command: shown.stdout.trim() };
    }),
  );
}
