import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readContracts } from "../../../api/chain/read-contracts.ts";
import { ConfigError } from "../../../lib/config/read-config.ts";
import { runCommand } from "../../helpers/run-command.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const abi = [{ type: "event", name: "Paid", inputs: [{ name: "amount", type: "uint256" }] }];
const market = { name: "Market", address, abi };

function problemsOf(folder: string): readonly string[] {
  try {
    readContracts(folder);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

t.test("each JSON file of the folder is a contract, and nothing else is", async (t) => {
  const folder = testFolder(t, {
    "b.json": JSON.stringify({
      ...market,
      name: "Booth",
      address: `0x${"0b".repeat(20)}`,
      deployedAtBlock: 7,
    }),
    "a.json": JSON.stringify({ ...market, address: address.toLowerCase() }),
    "README.md": "not one",
  });
  t.match(readContracts(folder), [
    { name: "Market", address, deployedAtBlock: null },
    { name: "Booth", deployedAtBlock: 7 },
  ]);
  t.same(readContracts(join(folder, "none")), [], "a folder that is not there has none");
  t.same(readContracts(""), []);
});

t.test("a file that cannot be used is named, with the reason", async (t) => {
  const bad: Readonly<Record<string, readonly [string, RegExp]>> = {
    "text.json": ["{", /it is not valid JSON/],
    "array.json": ["[]", /the file: .*expected object/],
    "name.json": [JSON.stringify({ ...market, name: "<b>" }), /name: a name of letters/],
    "address.json": [JSON.stringify({ ...market, address: "0x12" }), /address: an address was expected/],
    "checksum.json": [
      JSON.stringify({ ...market, address: address.replace("F", "f") }),
      /address: an address was expected/,
    ],
    "empty.json": [JSON.stringify({ ...market, abi: [] }), /abi: an ABI with at least one entry/],
    // ethers itself would leave it out and say so on the console.
    "entry.json": [
      JSON.stringify({ ...market, abi: [...abi, { type: "event", name: "A b", inputs: [] }] }),
      /abi\.1: an entry of an ABI was expected/,
    ],
    "more.json": [JSON.stringify({ ...market, bytecode: "0x" }), /the file: Unrecognized key: "bytecode"/],
    "large.json": [" ".repeat(1_048_577), /at most 1048576 bytes were expected/],
  };
  for (const [file, [content, says]] of Object.entries(bad)) {
    const folder = testFolder(t, { [file]: content });
    const problems = problemsOf(folder);
    t.equal(problems.length, 1, file);
    t.match(problems[0], says);
    t.ok(problems[0]?.startsWith(`${join(folder, file)}: `), file);
  }
});

t.test("no two files have one name or one address", async (t) => {
  const folder = testFolder(t, { "a.json": JSON.stringify(market), "b.json": JSON.stringify(market) });
  t.match(problemsOf(folder), [
    /b\.json: name: a\.json has Market too/,
    /b\.json: address: a\.json has 0x5F/,
  ]);
});

t.test("what is no folder, and more files than are asked for, are refused", async (t) => {
  const folder = testFolder(t, { file: "", many: {} });
  t.match(problemsOf(join(folder, "file")), [/cannot be read \(ENOTDIR\)/]);
  for (let at = 0; at <= 200; at += 1) writeFileSync(join(folder, "many", `${at}.json`), "{}");
  t.match(problemsOf(join(folder, "many")), [/at most 200 files were expected/]);
  const own = testFolder(t, { "a.json": JSON.stringify(market) });
  chmodSync(join(own, "a.json"), 0);
  if (process.getuid?.() !== 0) t.match(problemsOf(own), [/a\.json: cannot be read/]);
});

t.test("the API does not start with a bad file, and --check tells of it", async (t) => {
  const folder = testFolder(t, {
    contracts: { "bad.json": "{" },
    "api.yaml": "contractsFolder: contracts\n",
  });
  const check = (...args: string[]) =>
    runCommand(t, {
      program: process.execPath,
      args: [
        "--disable-warning=ExperimentalWarning",
        "api/main.ts",
        "--config",
        `${folder}/api.yaml`,
        ...args,
      ],
    });
  for (const args of [["--check"], []]) {
    const { code, lines } = await check(...args);
    t.equal(code, 2);
    t.match(lines.join("\n"), /The api's configuration cannot be used:\n.*bad\.json: it is not valid JSON/);
  }
  writeFileSync(join(folder, "contracts", "bad.json"), JSON.stringify(market));
  const { code, lines } = await check("--check");
  t.equal(code, 0);
  t.match(lines.join("\n"), /is in order: development profile, port 4000, ops port 5000, 1 contract\(s\)/);
});
