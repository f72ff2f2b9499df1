import process from "node:process";

/**
 * What a program that a test starts takes of the test's own environment where that is all that it may have: where programs are, and how
 * npm test has Node.js start (types stripped once, code compiled once), which spares two thirds of a start.
 */
export const nodeEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  ["PATH", "HOME", "NODE_OPTIONS", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
