import { checkNativeLibrary } from "./check-native-library.ts";

/** `npm run check`: whether the native library is the one that was looked at. */
const problems = checkNativeLibrary();
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
