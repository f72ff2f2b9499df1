import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../../lib/cli/command.ts";
import type { ReleaseCommand } from "./command.ts";
import { licencesPage, listLicences, refusedLicences } from "./licences/list-licences.ts";
import { readLock } from "./lock/lock-file.ts";

export const licencesCommand: ReleaseCommand = {
  name: "licences",
  positionals: [],
  summary:
    "Lists the licences of all packages in docs/licences.md, and refuses those that nobody has allowed.",
  details: ["After each change of package-lock.json."],
  options: {},
  examples: ["licences"],
  async run({ root, print }) {
    const packages = listLicences(readLock(join(root, "package-lock.json")));
    writeFileSync(join(root, "docs/licences.md"), licencesPage(packages));
    const refused = refusedLicences(packages);
    if (refused.length > 0) throw new CommandError(refused.join("\n"), { exitCode: 1 });
    print(`${packages.length} packages are listed in docs/licences.md; all of their licences are allowed.`);
  },
};
