import t from "tap";
import { CommandError, type SingleProgram } from "../../../lib/cli/command.ts";
import { type Given, readProgram } from "../../../lib/cli/read-program.ts";
import { namesOutOf, portNumber, positiveNumber, wholeNumber } from "../../../lib/cli/values.ts";

const program: SingleProgram = {
  invocation: "npm run try --",
  summary: "Tries what a command line can be.",
  options: {
    file: { value: "FILE", text: "what it reads", required: true },
    port: { value: "PORT", text: "where it listens", default: "80" },
    site: { value: "SITE", text: "a site; may be repeated", multiple: true },
    quick: { text: "does less" },
  },
  details: ["More about it."],
};

const readAll = ({ need, needText, has, texts }: Given) => ({
  file: needText("file"),
  port: need("port", portNumber({ min: 1 })),
  sites: texts("site"),
  quick: has("quick"),
});

t.test("options are read into values, with their defaults", async (t) => {
  t.same(readProgram(program, ["--file", "a"], readAll), {
    kind: "run",
    options: { file: "a", port: 80, sites: [], quick: false },
  });
  const args = ["--file=a", "--port", "8000", "--port", "8080", "--site", "x", "--site=y", "--quick"];
  t.same(readProgram(program, args, readAll), {
    kind: "run",
    options: { file: "a", port: 8080, sites: ["x", "y"], quick: true },
  });
});

t.test("help tells all options, also beside what is wrong", async (t) => {
  for (const args of [["--help"], ["-h"], ["--nonsense", "--help"]]) {
    const read = readProgram(program, args, readAll);
    t.equal(read.kind, "help");
    t.match("text" in read ? read.text : "", /^Usage: npm run try -- --file FILE \[OPTIONS\]\n\nTries/);
    t.match("text" in read ? read.text : "", /--port PORT {2}where it listens \(default: 80\)\n/);
    t.match("text" in read ? read.text : "", /--help .*this text\n\nMore about it\.\n$/);
  }
});

t.test("a last word with an ellipsis takes all that follow", async (t) => {
  const read = (positionals: readonly string[], args: readonly string[]) =>
    readProgram({ ...program, positionals, options: {} }, args, (given) => given.positionals);
  t.same(read(["MODE", "[PATH…]"], ["files"]), { kind: "run", options: ["files"] });
  t.same(read(["MODE", "[PATH…]"], ["files", "a", "b", "c"]), {
    kind: "run",
    options: ["files", "a", "b", "c"],
  });
  t.same(read(["PATH…"], ["a", "b"]), { kind: "run", options: ["a", "b"] });
  const missing = read(["MODE", "PATH…"], ["files"]);
  t.match(
    "text" in missing ? missing.text : "",
    /^PATH… is missing\.\n\nUsage: npm run try -- MODE PATH… \[OPTIONS\]\n/,
  );
});

t.test("what is wrong is told before the usage", async (t) => {
  const file = ["--file", "a"];
  for (const [args, problem] of [
    [["--fil", "a"], "There is no option --fil. Did you mean --file?"],
    [["--constructor"], "There is no option --constructor."],
    [[], "--file is missing: FILE, what it reads."],
    [["--file"], "--file needs a value: FILE, what it reads."],
    [[...file, "--quick=1"], "--quick takes no value."],
    [[...file, "more"], '"more" is one word too many (words with spaces need quotes).'],
    [[...file, "--port", "0"], '--port: a port, 1 to 65535, was expected, not "0"'],
  ] as const) {
    t.same(readProgram(program, args, readAll), {
      kind: "unusable",
      text: `${problem}\n\nUsage: npm run try -- --file FILE [OPTIONS]\nnpm run try -- --help tells more.\n`,
    });
  }
});

t.test("a program may refuse what it read; other errors are its own", async (t) => {
  const refused = readProgram(program, ["--file", "a"], () => {
    throw new CommandError("--file and --quick exclude each other.", { exitCode: 2 });
  });
  t.match(refused, { kind: "unusable", text: /^--file and --quick exclude each other\.\n\nUsage/ });
  t.throws(
    () =>
      readProgram(program, ["--file", "a"], () => {
        throw new Error("a bug");
      }),
    /a bug/,
  );
});

t.test("values: numbers in bounds, and names in the order in which they are known", async (t) => {
  t.same(wholeNumber(10)("10"), { value: 10 });
  for (const wrong of ["0", "11", "1.5", "", "1e1"]) {
    t.same(wholeNumber(10)(wrong), { expected: "a whole number from 1 to 10" });
  }
  t.same(positiveNumber("0.1"), { value: 0.1 });
  t.same(positiveNumber("0"), { expected: "a number above 0" });
  t.same(namesOutOf(["a", "b", "c"])("c, a"), { value: ["a", "c"] });
  t.same(namesOutOf(["a", "b"])("a,x"), { wrong: 'names out of a, b were expected, not "x"' });
});
