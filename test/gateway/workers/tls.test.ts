import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import t from "tap";
import { readGatewayConfig } from "../../../gateway/config.ts";
import { createGatewayWorkers } from "../../../gateway/workers/gateway-workers.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { reloadInTurn } from "../../helpers/ask-reload.ts";
import { servedBy, writeCertificate } from "../../helpers/certificate.ts";
import { startRedis } from "../../helpers/redis.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startWorkers } from "./workers-rig.ts";

t.setTimeout(200_000);

// Of the file's own test: a configuration is written to the folder of the test that starts a gateway.
const folder = testFolder(t);
const cores = availableParallelism();
/** What `auto` comes to, where that is several processes and not too many for a test. */
const workersHere = cores > 1 && cores <= 4 ? "auto" : 2;

t.test("auto is one worker for each core that this process may use", async (t) => {
  const { count } = createGatewayWorkers();
  const file = join(testFolder(t), "gateway.yaml");
  writeFileSync(file, "upstreams: http://127.0.0.1:1\nworkers: auto\n");
  t.equal(count(readGatewayConfig({ file, env: {} })), cores);
  writeFileSync(file, "upstreams: http://127.0.0.1:1\nworkers: 3\n");
  t.equal(count(readGatewayConfig({ file, env: {} })), 3);
});

t.test("workers serve HTTPS on one port, and all of them a new certificate, or none", async (t) => {
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
  for (const name of ["used", "second"]) mkdirSync(join(folder, name));
  const { certFile, keyFile } = await writeCertificate(join(folder, "used"), { commonName: "first" });
  const second = await writeCertificate(join(folder, "second"), { commonName: "second" });
  const workers = await startWorkers(t, {
    redisUrl: redis.url,
    upstream: validator.url,
    workers: workersHere,
    more: `tls: { certFile: ${certFile}, keyFile: ${keyFile} }`,
  });
  const count = workersHere === "auto" ? cores : workersHere;
  t.match(workers.output(), `"msg":"${count} workers start, which share the port"`);
  t.equal(Object.keys((await workers.status()).each).length, count);
  /** The kernel gives each its share: that one of them is never met by 40 connections is as likely as 1 in 10^5. */
  const served = async () =>
    new Set(await Promise.all(Array.from({ length: 40 }, () => servedBy(workers.port))));
  t.same(await served(), new Set(["first"]));

  cpSync(second.certFile, certFile);
  t.match(await reloadInTurn(workers), { status: 409, body: { problems: [/^tls: .*not the key of/] } });
  t.same(await served(), new Set(["first"]), "a certificate without its key");
  cpSync(second.keyFile, keyFile);
  // The file names the same paths, so a reload changes nothing: each worker looks at the files by itself, every second.
  t.match(await reloadInTurn(workers), { status: 200, body: { outcome: "same" } });
  await waitFor("none serves the first any more", async () => !(await served()).has("first"), {
    everyMs: 200,
  });
  t.same(await served(), new Set(["second"]));

  mkdirSync(join(folder, "third"));
  const third = await writeCertificate(join(folder, "third"), { commonName: "third" });
  const text = readFileSync(workers.file, "utf8");
  writeFileSync(workers.file, text.replace(certFile, third.certFile).replace(keyFile, third.keyFile));
  t.match(await reloadInTurn(workers), { status: 200, body: { outcome: "changed" } });
  t.same(await served(), new Set(["third"]), "files of other names: by the reload, at once");
  await t.rejects(workers.call({ method: "net_version" }), "plain HTTP is not spoken there");
});
