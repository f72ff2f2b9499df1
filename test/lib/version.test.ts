import { Registry } from "prom-client";
import t from "tap";
import { compareVersions, differsOnDisk, productVersion, registerBuildInfo } from "../../lib/version.ts";

t.test("versions are ordered by their numbers, and a prerelease comes before its version", async (t) => {
  const ordered = [
    "0.9",
    "0.10.0-rc.1",
    "0.10.0-rc.2",
    "0.10.0-rc.10",
    "0.10.0",
    "0.10.1",
    "v26.8.0",
    "26.10",
  ];
  for (const [index, version] of ordered.entries()) {
    t.equal(compareVersions(version, version), 0);
    for (const newer of ordered.slice(index + 1)) {
      t.ok(compareVersions(version, newer) < 0, `${version} before ${newer}`);
      t.ok(compareVersions(newer, version) > 0, `${newer} after ${version}`);
    }
  }
  t.equal(compareVersions("26.8", "26.8.0"), 0);
  t.equal(compareVersions("26.8.0+abc", "26.8.0"), 0);
});

t.test("the metrics say which version runs", async (t) => {
  const registry = new Registry();
  registerBuildInfo(registry);
  t.match(productVersion, /^\d+\.\d+\.\d+/);
  t.ok((await registry.metrics()).includes(`tollgate_build_info{version="${productVersion}"} 1`));
});

t.test("another version on disk than the one that runs is told, with what to do", async (t) => {
  t.equal(differsOnDisk(), undefined, "package.json is the one that was read at the start");
  t.equal(
    differsOnDisk(() => "99.0.0"),
    `the primary, which starts the others, goes on as ${productVersion}, and 99.0.0 is on disk: it needs a stop and a start`,
  );
  const isBeingReplaced = () => {
    throw new Error("ENOENT");
  };
  t.equal(differsOnDisk(isBeingReplaced), undefined);
});
