import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** The first of `names` that can be run from the folders of a PATH, as a whole path. */
export async function findProgram({
  names,
  path,
}: {
  names: readonly string[];
  path: string | undefined;
}): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of (path ?? "").split(delimiter)) {
      // An empty entry of PATH means the current folder; nothing is run from there unasked.
      if (folder !== "" && (await isProgram(join(folder, name)))) return join(folder, name);
    }
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
