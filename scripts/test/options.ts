import type { SingleProgram } from "../../lib/cli/command.ts";
import { type ReadProgram, readProgram, readValue } from "../../lib/cli/read-program.ts";
import { nameOutOf, wholeNumber } from "../../lib/cli/values.ts";

const modes = ["all", "quick", "affected", "files"] as const;

export type TestOptions = {
  mode: (typeof modes)[number];
  paths: readonly string[];
  base: string;
  list: boolean;
  /** As many as keep the processors busy where it is not given. */
  jobs: number | undefined;
  record: boolean;
};

const program: SingleProgram = {
  invocation: "npm run test:run --",
  positionals: ["[MODE]", "[PATH…]"],
  summary: "Runs tests: npm test, npm run test:quick, test:affected [-- --base BRANCH], test:files -- PATH…",
  options: {
    base: { value: "BRANCH", text: "what changes are counted from", default: "main" },
    list: { text: "prints the test files and runs nothing" },
    jobs: {
      value: "N",
      text: "as many files at a time as keep N processors busy, instead of those that there are",
    },
    record: {
      text: "keeps what each file took (test/seconds.json): the longest begin first, with others while they wait",
    },
  },
  details: [
    "npm test runs the types, the linter and all tests (MODE all). quick: those that start no program (no Redis, anvil, browser,",
    "docker). affected: those that the changes since BRANCH can have broken. files: those of files and folders.",
    "Where CI is set, up to five files that failed run once more, alone. A file that passes then is told as flaky.",
  ],
};

/** Reads the command line; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadProgram<TestOptions> {
  return readProgram(program, args, ({ positionals: [mode = "all", ...paths], has, needText, read }) => ({
    mode: readValue("MODE", mode, nameOutOf(modes)),
    paths,
    base: needText("base"),
    list: has("list"),
    jobs: read("jobs", wholeNumber(1024)),
    record: has("record"),
  }));
}
