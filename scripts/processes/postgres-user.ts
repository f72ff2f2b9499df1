import { chown, stat } from "node:fs/promises";

/** The user who owns a cluster that root starts, and the command that runs programs as that user. */
export type PostgresUser = {
  name: "self" | "setpriv" | "unshare";
  /** Stands before the program and its arguments. */
  prefix: readonly string[];
  /** Makes the user the owner of a folder that root has made. */
  own(folder: string): Promise<void>;
};

/** nobody and nogroup, whatever a system calls them. */
const nobodyId = 65_534;

/** Without root the programs run as the current user. */
const self: PostgresUser = { name: "self", prefix: [], own: async () => {} };

/**
 * Runs as nobody, with root's right to read: our packages and data may stand in root's home, which is closed to others.
 * Without `no_setuid_fixup` access(2), which initdb uses, would drop that right.
 */
const setpriv: PostgresUser = {
  name: "setpriv",
  prefix: [
    ...["setpriv", `--reuid=${nobodyId}`, `--regid=${nobodyId}`, "--clear-groups"],
    ...["--securebits=+no_setuid_fixup", "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"],
  ],
  own: (folder) => chown(folder, nobodyId, nobodyId),
};

/** As root, whom a user namespace calls nobody: files stay root's. */
const unshare: PostgresUser = {
  name: "unshare",
  prefix: ["unshare", "--user", `--map-user=${nobodyId}`, `--map-group=${nobodyId}`],
  own: async () => {},
};

/**
 * PostgreSQL refuses to run as root.
 * @returns the ways to try for a new cluster, best first; for an existing cluster, the way in which it was made.
 */
export async function postgresUsers({
  uid = process.getuid?.(),
  cluster,
}: {
  uid?: number | undefined;
  cluster: string;
}): Promise<readonly PostgresUser[]> {
  if (uid !== 0) return [self];
  const owner = await stat(cluster).then(
    (folder) => folder.uid,
    () => undefined,
  );
  if (owner === undefined) return [setpriv, unshare];
  return owner === 0 ? [unshare] : [setpriv];
}
