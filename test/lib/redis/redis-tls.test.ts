import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { readRedisAddress, redisUrl } from "../../../lib/redis/redis-address.ts";
import { createRedisClient, waitForRedis } from "../../../lib/redis/redis-client.ts";
import { aclRules, sharedRedisUsers } from "../../../lib/redis/redis-users.ts";
import { runKeys } from "../../../scripts/keys/run-keys.ts";
import { startOwnRedis } from "../../../scripts/processes/own-redis.ts";
import { reservePort } from "../../../scripts/processes/reserved-port.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { writeCertificate } from "../../helpers/certificate.ts";
import { startGateway } from "../../helpers/gateway.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const password = "a-password-that-no-log-holds";
const folder = testFolder(t, { other: {} });
const { certFile, keyFile } = await writeCertificate(folder);
const other = await writeCertificate(join(folder, "other"), { commonName: "somebody else" });
const users = sharedRedisUsers("development").map((user) => `${user.name} on >${password} ${aclRules(user)}`);

/** A Redis that speaks TLS at a port of its own and knows the users of processes. */
async function startTlsRedis(t: Pick<Test, "teardown">, { asksForCertificate = false } = {}) {
  const tlsPort = await reservePort();
  const more = [
    ...["--tls-port", String(tlsPort), "--tls-cert-file", certFile, "--tls-key-file", keyFile],
    ...["--tls-ca-cert-file", certFile, "--tls-auth-clients", asksForCertificate ? "yes" : "no"],
  ];
  const plain = await startOwnRedis(t, { users, more });
  const address = (user: string, files: Record<string, string>, given = password) =>
    `rediss://${user}:${given}@127.0.0.1:${tlsPort}/0?${new URLSearchParams(files)}`;
  return { plain, tlsPort, address };
}

const server = await startTlsRedis(t);
const ca = { ssl_ca_certs: certFile };

t.test("gateway and command line work over TLS as their users, and no log holds the password", async (t) => {
  const stub = await startStubValidator(t);
  const gateway = await startGateway(t, { redisUrl: server.address("gateway", ca), upstreams: [stub.url] });
  const call = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
  t.equal((await gateway.post(call)).status, 200);
  const printed: string[] = [];
  const keys = (...args: string[]) =>
    runKeys({
      args: [...args, "--redis", server.address("keys", ca)],
      env: {},
      print: (text) => printed.push(text),
      note: (text) => printed.push(text),
    });
  t.equal(await keys("team", "set", "acme"), 0, printed.join("\n"));
  t.equal(await keys("create", "--team", "acme", "--label", "tls"), 0, printed.join("\n"));
  const key = /tg_[a-z]+_\w+/.exec(printed.join("\n"))?.[0] ?? "";
  t.equal((await gateway.post(call, { key })).status, 200, "and what one of them writes the other reads");
  t.notMatch(gateway.logLines.join("\n"), password);
});

const wrong: readonly { what: string; url: () => string; says: RegExp }[] = [
  {
    what: "a certificate of an unknown authority",
    url: () => server.address("gateway", {}),
    says: /ssl_ca_certs=FILE/,
  },
  {
    what: "a certificate of another authority",
    url: () => server.address("gateway", { ssl_ca_certs: other.certFile }),
    says: /authority that is known here|ssl_ca_certs=FILE/,
  },
  {
    what: "a wrong password",
    url: () => server.address("gateway", ca, "not-this-one"),
    says: /no such user with this password/,
  },
  {
    what: "an unknown user",
    url: () => server.address("nobody", ca),
    says: /no such user with this password/,
  },
];
for (const { what, url, says } of wrong) {
  t.test(`${what}: the log says what to do, and not the password; it is tried again`, async (t) => {
    const { lines, client } = connect(t, url());
    await waitFor(what, () => lines.some((line) => says.test(line)));
    t.notMatch(lines.join("\n"), /a-password|not-this-one/);
    t.not(client.status, "end");
  });
}

t.test(
  "a Redis that asks for the client's certificate gets it, and says so where there is none",
  async (t) => {
    const strict = await startTlsRedis(t, { asksForCertificate: true });
    const own = { ssl_certfile: certFile, ssl_keyfile: keyFile };
    const good = connect(t, strict.address("gateway", { ...ca, ...own }));
    await waitForRedis({ redis: good.client, logger: { info: () => {}, warn: () => {} } });
    t.equal(await good.client.ping(), "PONG");
    const bad = connect(t, strict.address("gateway", ca));
    await waitFor("it says that a certificate is missing", () =>
      bad.lines.some((line) => /ssl_certfile=FILE/.test(line)),
    );
  },
);

t.test(
  "a renewed authority counts from the next connection on; one that is spoilt later does no harm",
  async (t) => {
    const file = join(folder, "authority.pem");
    copyFileSync(other.certFile, file);
    const { client, lines } = connect(t, server.address("gateway", { ssl_ca_certs: file }));
    await waitFor("the old one is refused", () => lines.some((line) => /ssl_ca_certs=FILE/.test(line)));
    copyFileSync(certFile, file);
    await waitForRedis({ redis: client, logger: { info: () => {}, warn: () => {} } });
    t.equal(await client.ping(), "PONG");
  },
);

t.test("an address that cannot be meant is refused with the reason, and without the address", async (t) => {
  for (const [text, says] of [
    [
      "rediss://u:secret@a?ssl_ca_certs=/nowhere/ca.pem",
      "ssl_ca_certs: /nowhere/ca.pem cannot be read (ENOENT)",
    ],
    [
      "redis://u:secret@a?ssl_ca_certs=/nowhere/ca.pem",
      "ssl_ca_certs is for an address that begins with rediss",
    ],
    [
      `rediss://u:secret@a?ssl_certfile=${certFile}`,
      "ssl_certfile and ssl_keyfile belong together: name both, or none",
    ],
    [
      "rediss-cluster://a?ssl_ca_certs=/nowhere/ca.pem",
      "ssl_ca_certs: /nowhere/ca.pem cannot be read (ENOENT)",
    ],
  ] as const) {
    t.same(readRedisAddress(text), { expected: says });
    t.equal(redisUrl.safeParse(text).error?.issues[0]?.message, says, "and so a configuration with it");
  }
  t.match(readRedisAddress("redis://u:p@a:1/2"), {
    kind: "single",
    url: "redis://u:p@a:1/2",
    tls: undefined,
  });
  t.match(readRedisAddress("rediss://u:p@a:1/2"), { kind: "single", url: "redis://u:p@a:1/2", tls: {} });
  t.match(readRedisAddress(`rediss-cluster://a:1?node=b:2&ssl_ca_certs=${certFile}`), {
    nodes: [
      { host: "a", port: 1 },
      { host: "b", port: 2 },
    ],
    tls: { ca: Buffer },
  });
});

function connect(t: Test, url: string) {
  const lines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const client = createRedisClient({
    url,
    name: "test",
    logger,
    commandTimeoutMs: 5000,
    connectTimeoutMs: 5000,
  });
  t.teardown(() => client.disconnect());
  return { client, lines };
}
