import { once } from "node:events";
import { readFileSync } from "node:fs";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { writeCertificate } from "../../helpers/certificate.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { ask, startProxy, startTarget } from "./rig.ts";

async function startTlsTarget(t: Test) {
  const { certFile, keyFile } = await writeCertificate(testFolder(t));
  const [cert, key] = [readFileSync(certFile, "utf8"), readFileSync(keyFile, "utf8")];
  return { ca: cert, target: await startTarget(t, { tls: { cert, key } }) };
}

t.test("a gateway with a self-made certificate that is named: HTTP and WebSocket", async (t) => {
  const { ca, target } = await startTlsTarget(t);
  const { port, key } = await startProxy(t, { gatewayUrl: target.url, ca });
  t.equal((await ask(port)).status, 200);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  t.teardown(() => socket.terminate());
  await once(socket, "open");
  socket.send("hello");
  t.equal(String((await once(socket, "message"))[0]), "hello");
  t.match(target.requests, [
    { headers: { "x-api-key": key } },
    { method: "upgrade", headers: { "x-api-key": key } },
  ]);
});

t.test("one that nobody vouches for is not asked, and never sees the key", async (t) => {
  const { target } = await startTlsTarget(t);
  const other = await startTlsTarget(t);
  for (const [ca, code] of [
    [undefined, "DEPTH_ZERO_SELF_SIGNED_CERT"],
    [other.ca, /CERT|UNABLE_TO_VERIFY/],
  ] as const) {
    const { port } = await startProxy(t, { gatewayUrl: target.url, ca });
    const { status, body } = await ask(port);
    t.equal(status, 503);
    const { message } = JSON.parse(body).error;
    t.match(message, `The certificate of the gateway (${target.url}) is not trusted: `);
    t.match(message, code);
    t.match(message, "--ca FILE names an authority to trust");
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    socket.on("error", () => {});
    const [, response] = await once(socket, "unexpected-response");
    t.equal(response.statusCode, 503);
    socket.terminate();
  }
  t.same(target.requests, []);
});

t.test("a certificate of another name does not do", async (t) => {
  const { ca, target } = await startTlsTarget(t);
  const { port } = await startProxy(t, {
    gatewayUrl: target.url.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
    ca,
  });
  const { status, body } = await ask(port);
  t.equal(status, 503);
  t.match(body, "ERR_TLS_CERT_ALTNAME_INVALID");
  t.same(target.requests, []);
});
