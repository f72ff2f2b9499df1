import { once } from "node:events";
import { connect } from "node:tls";
import t from "tap";
import WebSocket from "ws";
import { startStubValidator } from "../../../fakes/stub-validator.ts";
import { writeCertificate } from "../../../helpers/certificate.ts";
import { coreKey, startGateway } from "../../../helpers/gateway.ts";
import { startRedis } from "../../../helpers/redis.ts";
import { testFolder } from "../../../helpers/test-folder.ts";
import { waitFor } from "../../../helpers/wait-for.ts";

t.test("WebSocket over TLS: an open socket outlives its certificate's renewal", async (t) => {
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const folder = testFolder(t);
  const { certificate, ...tls } = await writeCertificate(folder, { commonName: "first" });
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => ({ ...config, tls }),
  });
  const open = async (ca: string) => {
    const headers = { "X-API-Key": coreKey };
    const socket = new WebSocket(`wss://127.0.0.1:${gateway.port}/`, { ca, headers });
    t.teardown(() => socket.terminate());
    await once(socket, "open");
    return socket;
  };
  const call = async (socket: WebSocket) => {
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}');
    const [message] = await once(socket, "message");
    return String(message);
  };
  const answer = '{"jsonrpc":"2.0","id":1,"result":"eth_chainId"}';

  const first = await open(certificate);
  t.equal(await call(first), answer);
  const second = await writeCertificate(folder, { commonName: "second" });
  await waitFor("the second certificate is served", async () => (await servedBy(gateway.port)) === "second");
  // The app behind the old certificate goes once it looks idle, a second after it was replaced.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  t.equal(await call(first), answer);
  const other = await open(second.certificate);
  t.equal(await call(other), answer);

  const closed = Promise.all([first, other].map((socket) => once(socket, "close")));
  await gateway.stop();
  for (const [code] of await closed) t.equal(code, 1001);
});

async function servedBy(port: number): Promise<unknown> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return CN;
}
