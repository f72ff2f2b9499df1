import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { playRealBesu } from "../helpers/play-real-besu.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { buildImages } from "./build-images.ts";
import { ownPlace, quickNetwork, removeLeftOvers } from "./rig.ts";
import { startDocker } from "./start-docker.ts";

/** The first run also makes the images. */
t.setTimeout(600_000);

t.test("what real Besu has to prove is played in containers too", async (t) => {
  const docker = await startDocker(t);
  if ("missing" in docker) {
    t.plan(0, docker.missing);
    return;
  }
  await buildImages(docker);
  await removeLeftOvers(docker.env);
  const { env, firstAddress } = await ownPlace({ env: docker.env, subnet: 103 });
  const configFile = join(testFolder(t, {}), "network.yaml");
  writeFileSync(configFile, quickNetwork({ firstAddress }));
  const { code, lines } = await playRealBesu({ besuHome: undefined, configFile, env });
  t.equal(code, 0, lines.join("\n"));
  t.match(lines.at(-1), "Verdict: played with a stand-in");
  t.equal(lines.filter((line) => line.startsWith("ok ")).length, 16, lines.join("\n"));
  t.equal(lines.filter((line) => line.startsWith("not provable ")).length, 4);
  t.equal(lines.filter((line) => line.startsWith("skipped ")).length, 2);
});
