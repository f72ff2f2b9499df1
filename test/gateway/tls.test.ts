import { once } from "node:events";
import { cpSync, renameSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import t, { type Test } from "tap";
import { CertificateError, readCertificate } from "../../gateway/server/certificate.ts";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { nameInCertificate, servedBy, writeCertificate } from "../helpers/certificate.ts";
import { coreKey, startGateway } from "../helpers/gateway.ts";
import { runGateway, writeConfig } from "../helpers/gateway-process.ts";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";

const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "net_version" });

t.test("over TLS", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const startSecure = async (t: Test, days?: number) => {
    const folder = testFolder(t);
    const tls = await writeCertificate(folder, {
      commonName: "first",
      ...(days === undefined ? {} : { days }),
    });
    const gateway = await startGateway(t, {
      redisUrl: redis.url,
      upstreams: [validator.url],
      change: (config) => ({ ...config, tls }),
    });
    return { gateway, folder, ...tls };
  };

  t.test("calls are answered as without, to clients that check the certificate", async (t) => {
    const { gateway, certificate } = await startSecure(t);
    t.match(await ask(gateway.port, { ca: certificate }), {
      status: 200,
      servedBy: "first",
      text: '"result":"net_version"',
    });
    t.match(await ask(gateway.port, { ca: certificate, key: "wrong" }), { status: 401 });
    await t.rejects(ask(gateway.port, {}), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  });

  t.test("plain HTTP and old TLS are not spoken on that port", async (t) => {
    const { gateway } = await startSecure(t);
    await t.rejects(fetch(`http://127.0.0.1:${gateway.port}/`, { method: "POST" }));
    const socket = connect({
      port: gateway.port,
      host: "127.0.0.1",
      rejectUnauthorized: false,
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
      ciphers: "DEFAULT@SECLEVEL=0",
    });
    t.teardown(() => socket.destroy());
    await t.rejects(once(socket, "secureConnect"), { message: /alert|protocol|socket|reset/i });
  });

  t.test("a renewed certificate serves new connections; old ones go on", async (t) => {
    const { gateway, folder, certificate } = await startSecure(t);
    const keptAgent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => keptAgent.destroy());
    const first = await ask(gateway.port, { ca: certificate, agent: keptAgent });
    t.equal(first.servedBy, "first");

    const next = await replace(folder, testFolder(t, { next: {} }));
    await waitFor(
      "the second certificate is served",
      async () => (await servedBy(gateway.port)) === "second",
    );
    t.equal((await ask(gateway.port, { ca: next.certificate })).servedBy, "second");
    const kept = await ask(gateway.port, { ca: certificate, agent: keptAgent });
    t.equal(kept.localPort, first.localPort, "the same connection");
    t.equal(kept.status, 200);
  });

  t.test(
    "files that do not fit together leave the old certificate in its place, and say so once",
    async (t) => {
      const { gateway, folder, certFile } = await startSecure(t);
      const warned = () => gateway.logLines.filter((line) => line.includes("the old certificate goes on"));
      writeFileSync(certFile, "half a certifi");
      await waitFor("a warning is logged", async () => warned().length > 0);
      t.equal(await servedBy(gateway.port), "first");
      t.match(warned()[0], "tls.crt holds no certificate");
      // The files are looked at twice more.
      await new Promise((resolve) => setTimeout(resolve, 2200));
      t.equal(warned().length, 1);

      await replace(folder, testFolder(t, { next: {} }));
      await waitFor(
        "the second certificate is served",
        async () => (await servedBy(gateway.port)) === "second",
      );
    },
  );

  t.test("/status and a metric tell when it expires; a near end is warned of", async (t) => {
    const { gateway } = await startSecure(t, 3);
    const status = await (await fetch(`${gateway.opsUrl}/status`)).json();
    t.match(status, { tls: { names: /DNS:localhost/, expiresAtMs: Number } });
    const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
    const seconds = Number(/^tollgate_gateway_tls_expiry_timestamp_seconds (\S+)$/m.exec(metrics)?.[1]);
    const days = (seconds * 1000 - Date.now()) / (24 * 60 * 60_000);
    t.ok(days > 2.9 && days <= 3, `${days}`);
    t.ok(gateway.logLines.some((line) => line.includes("expires soon")));
  });

  t.test("a stop lets answers on their way go out, and closes the port", async (t) => {
    const { gateway, certificate } = await startSecure(t);
    let release = () => {};
    validator.answerWith(
      () =>
        new Promise((resolve) => {
          release = () => resolve('{"jsonrpc":"2.0","id":1,"result":"late"}');
        }),
    );
    const asked = validator.bodies.length;
    const answer = ask(gateway.port, { ca: certificate });
    await waitFor("the validator is asked", async () => validator.bodies.length > asked);
    const stopped = gateway.stop();
    release();
    t.match(await answer, { status: 200, text: "late" });
    await stopped;
    await t.rejects(ask(gateway.port, { ca: certificate }), { code: "ECONNREFUSED" });
  });
});

t.test("a certificate that cannot be used is refused with its file and the reason", async (t) => {
  const folder = testFolder(t, { one: {}, other: {} });
  const { certFile, keyFile } = await writeCertificate(join(folder, "one"));
  const other = await writeCertificate(join(folder, "other"));
  const text = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const refused = (files: { certFile: string; keyFile: string }, message: RegExp) =>
    t.throws(() => readCertificate(files), { name: "CertificateError", message });

  t.ok(readCertificate({ certFile, keyFile }).expiresAtMs > Date.now());
  refused({ certFile: join(folder, "none"), keyFile }, /none cannot be read$/);
  refused({ certFile: text("junk", "junk"), keyFile }, /junk holds no certificate/);
  refused({ certFile, keyFile: text("junk", "junk") }, /junk holds no private key/);
  refused({ certFile, keyFile: other.keyFile }, /tls\.key is not the key of the certificate in/);
  refused(
    { certFile, keyFile: text("locked", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n") },
    /locked is encrypted; decrypt it/,
  );
  t.ok(new CertificateError("x") instanceof Error);
});

t.test("--check names what is wrong with the TLS files", async (t) => {
  const check = async (more: string) => {
    const file = writeConfig(t, { redisUrl: "redis://127.0.0.1:1", upstream: "http://127.0.0.1:1", more });
    return runGateway(t, ["--check", "--config", file]).ended;
  };
  t.match(await check("tls: { certFile: nowhere.crt, keyFile: nowhere.key }"), {
    code: 2,
    output: /tls: .*\/nowhere\.crt cannot be read/,
  });
  t.match(await check("tls: { certFile: nowhere.crt }"), {
    code: 2,
    output: /certFile and keyFile belong together/,
  });
  t.match(await check("tls: { certFile: '', keyFile: '' }"), { code: 0 });
});

type Asked = { status: number | undefined; text: string; servedBy: string; localPort: number | undefined };

/** A call over HTTPS, and the name in the certificate that served it. */
function ask(port: number, { ca, key = coreKey, agent }: { ca?: string; key?: string; agent?: Agent }) {
  return new Promise<Asked>((resolve, reject) => {
    const headers = { "Content-Type": "application/json", "X-API-Key": key };
    const options = { port, host: "127.0.0.1", method: "POST", headers, agent: agent ?? false, ca };
    const asked = request(options, async (response) => {
      const { socket } = response;
      const servedBy = "getPeerCertificate" in socket ? nameInCertificate(socket as TLSSocket) : "nobody";
      const { localPort } = socket;
      response.setEncoding("utf8");
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, text, servedBy, localPort });
    });
    asked.on("error", reject).end(call);
  });
}

/** Renews the files in `folder` as a tool does: each by a rename, one after the other. */
async function replace(folder: string, aside: string) {
  const next = await writeCertificate(aside, { commonName: "second" });
  for (const file of ["tls.crt", "tls.key"]) {
    cpSync(join(aside, file), join(folder, `${file}.new`));
    renameSync(join(folder, `${file}.new`), join(folder, file));
  }
  return next;
}
