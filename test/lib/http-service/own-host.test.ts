import { request } from "node:http";
import { fileURLToPath } from "node:url";
import { Registry } from "prom-client";
import t, { type Test } from "tap";
import { readFaucetConfig } from "../../../faucet/config.ts";
import { readGatewayConfig } from "../../../gateway/config.ts";
import { createIsOwnHost } from "../../../lib/http-service/own-host.ts";
import { startOpsServer } from "../../../lib/ops-server.ts";

async function startOps(t: Test, { hosts = [] }: { hosts?: string[] } = {}) {
  const ops = await startOpsServer({
    host: "127.0.0.1",
    port: 0,
    hosts,
    registry: new Registry(),
    readiness: () => ({ ready: true, reasons: [] }),
    status: () => ({ secret: "of operators" }),
  });
  t.teardown(() => ops.stop());
  return ops;
}

/** As a browser sends it whose page's name leads to the server's address. */
function get(port: number, { path, host }: { path: string; host: string }) {
  return new Promise<{ status: number | undefined; type: string | undefined; text: string }>(
    (resolve, reject) => {
      request({ port, host: "127.0.0.1", path, headers: { Host: host } }, async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode, type: response.headers["content-type"], text });
      })
        .on("error", reject)
        .end();
    },
  );
}

const pages = ["/livez", "/readyz", "/status", "/metrics"];

t.test("a page of a domain that was turned to the ops port's address reads nothing", async (t) => {
  const { port } = await startOps(t);
  for (const path of [...pages, "/nothing"]) {
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "localhost.evil.example",
      "127.0.0.1.evil.example",
    ]) {
      const { status, type, text } = await get(port, { path, host });
      t.equal(status, 403, `${path} of ${host}`);
      t.equal(type, "application/problem+json");
      t.match(JSON.parse(text), { status: 403, code: "forbidden", detail: /ops\.hosts/ });
      t.notMatch(text, /operators/);
    }
  }
});

t.test("loopback by any of its names and any port, as through a tunnel, reads all of it", async (t) => {
  const { port } = await startOps(t);
  for (const host of [`127.0.0.1:${port}`, "localhost", "LOCALHOST:7777", "[::1]:80", "127.8.8.8"]) {
    for (const path of pages) t.equal((await get(port, { path, host })).status, 200, `${path} of ${host}`);
  }
});

t.test("a configured name passes, and no other does", async (t) => {
  const { port } = await startOps(t, { hosts: ["gateway", "Ops.Example"] });
  for (const host of ["gateway:9540", "GATEWAY", "ops.example"]) {
    t.equal((await get(port, { path: "/metrics", host })).status, 200, host);
  }
  for (const host of ["gateway.example", "xgateway", "gateway:9540:1", "gateway@evil", "gateway."]) {
    t.equal((await get(port, { path: "/metrics", host })).status, 403, host);
  }
});

t.test("beside loopback an address passes only where the connection came to it", async (t) => {
  const isOwnHost = createIsOwnHost({ hosts: [] });
  const asks = (host: string | undefined, localAddress: string) => {
    const headers = host === undefined ? {} : { host };
    // Of a socket its own address is read alone.
    return isOwnHost(Object.assign(Object.create(null), { headers, socket: { localAddress } }));
  };
  t.ok(asks("192.0.2.7:9540", "192.0.2.7"));
  t.ok(asks("192.0.2.7:9540", "::ffff:192.0.2.7"), "as sockets of both families tell it");
  t.ok(asks("[2001:DB8::7]:9540", "2001:db8::7"));
  t.notOk(asks("192.0.2.8:9540", "192.0.2.7"));
  t.notOk(asks("[2001:db8::8]", "2001:db8::7"));
  t.notOk(asks(undefined, "192.0.2.7"), "no Host");
});

t.test("the names are a list in the file, or stand with commas in the environment", async (t) => {
  const file = (name: string) => fileURLToPath(new URL(`../../../config/${name}`, import.meta.url));
  const gateway = (names: string) =>
    readGatewayConfig({ file: file("gateway.yaml"), env: { GATEWAY_OPS_HOSTS: names } }).ops.hosts;
  t.same(gateway(""), []);
  t.same(gateway("gateway, ops.example"), ["gateway", "ops.example"]);
  for (const bad of ["gateway:9540", "http://gateway", "*"]) t.throws(() => gateway(bad), /ops\.hosts/, bad);
  const env = { FAUCET_OPS_HOSTS: "faucet", FAUCET_PRIVATE_HOSTS: "claims" };
  const faucet = readFaucetConfig({ file: file("faucet.yaml"), env });
  t.same([faucet.ops.hosts, faucet.private.hosts], [["faucet"], ["claims"]]);
});
