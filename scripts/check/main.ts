import { checkOwnLock } from "../release/lock/check-lock.ts";
import { checkLicences } from "./check-licences.ts";
import { checkNativeLibrary } from "./check-native-library.ts";

/** `npm run check`: whether the native library is the one that was looked at, the lock file serves all platforms, and licences are allowed. */
const { problems: lockProblems, unhashed } = checkOwnLock();
const problems = [...checkNativeLibrary(), ...lockProblems, ...checkLicences()];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (unhashed.length > 0) {
  process.stderr.write(
    `Note: ${unhashed.length} packages for other platforms have no hash yet (scripts/release/lock/without-hash.txt).\n`,
  );
}
if (problems.length > 0) process.exitCode = 1;
