import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { createKeptConfig, keptConfigFolder } from "../../../scripts/network/upgrade/kept-config.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const accepts = async () => ({ replaced: {} });
const refuses = async () => undefined;

t.test("files that all take are kept, and those that one refuses are not", async (t) => {
  const { kept, edit, read } = place(t);
  await kept.keep(accepts);
  t.equal(await kept.keepAs("0.1.0"), true);
  t.equal(await kept.hasOther("0.1.0"), false, "they are those of now");
  edit("gateway.yaml", "new: 1\n");
  await kept.keep(refuses);
  t.equal(read("running", "gateway.yaml"), "old: 1\n");
  t.equal(await kept.hasOther("0.1.0"), true);
  edit("gateway.yaml", "old: 2\n");
  await kept.keep(accepts);
  t.equal(read("running", "gateway.yaml"), "old: 2\n");
  t.equal(read("0.1.0", "gateway.yaml"), "old: 1\n", "until it is kept under its version again");
  t.equal(await kept.keepAs("0.1.0"), true);
  t.equal(read("0.1.0", "gateway.yaml"), "old: 2\n");
});

t.test("nobody is asked where nothing has changed", async (t) => {
  const { kept } = place(t);
  await kept.keep(accepts);
  await kept.keep(async () => {
    t.fail("somebody was asked");
    return undefined;
  });
  t.pass();
});

t.test("a file that is gone, has come or has another name is a change", async (t) => {
  const { kept, edit, configFolder } = place(t);
  await kept.keep(accepts);
  await kept.keepAs("0.1.0");
  edit("contracts/one.json", "{}");
  t.equal(await kept.hasOther("0.1.0"), true);
  rmSync(join(configFolder, "contracts/one.json"));
  t.equal(await kept.hasOther("0.1.0"), false);
  rmSync(join(configFolder, "contracts/README.md"));
  t.equal(await kept.hasOther("0.1.0"), true);
});

t.test("what a process has in another version is kept as it has it; modes stay", async (t) => {
  const { kept, folder, configFolder, edit, read } = place(t);
  edit("fees.yaml", "newer: 1\n");
  chmodSync(join(configFolder, "gateway.yaml"), 0o640);
  await kept.keep(async () => ({ replaced: { "fees.yaml": "older: 1\n" } }));
  t.equal(read("running", "fees.yaml"), "older: 1\n");
  t.equal(statSync(join(folder, keptConfigFolder, "running", "gateway.yaml")).mode & 0o777, 0o640);
});

t.test("where nothing was kept there is nothing, and a version is no way out of the folder", async (t) => {
  const { kept, folder } = place(t);
  t.equal(await kept.keepAs("0.1.0"), false);
  t.equal(await kept.hasOther("0.1.0"), false);
  t.equal(await kept.hasOther(undefined), false);
  await kept.keep(accepts);
  for (const version of ["../secrets", "0/../../secrets", "running", "", ".."]) {
    t.equal(await kept.keepAs(version), false, version);
    t.equal(await kept.hasOther(version), false, version);
  }
  t.throws(() => statSync(join(folder, "secrets")), { code: "ENOENT" });
});

function place(t: Test) {
  const parent = testFolder(t, {});
  const [folder, configFolder] = [join(parent, "network"), join(parent, "config")];
  mkdirSync(join(configFolder, "contracts"), { recursive: true });
  mkdirSync(folder);
  const edit = (name: string, text: string) => writeFileSync(join(configFolder, name), text);
  edit("gateway.yaml", "old: 1\n");
  edit("contracts/README.md", "ABIs\n");
  return {
    ...{ folder, configFolder, edit, kept: createKeptConfig({ folder, configFolder }) },
    read: (name: string, file: string) => readFileSync(join(folder, keptConfigFolder, name, file), "utf8"),
  };
}
