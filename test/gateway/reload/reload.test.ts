import t from "tap";
import WebSocket from "ws";
import { askReload } from "../../helpers/ask-reload.ts";
import { coreKey } from "../../helpers/gateway.ts";
import { rawRequest } from "../../helpers/raw-http.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { openWebSocket } from "../../helpers/web-socket-client.ts";
import { methodsWithout, startReloadable } from "./reload-rig.ts";

const call = { jsonrpc: "2.0", id: 1, method: "net_version" };

t.test("limits and methods change in a running gateway", async (t) => {
  const { gateway, write, reload, status } = await startReloadable(t);
  const before = await status();
  t.equal((await gateway.post(call)).status, 200);

  const methodsFile = methodsWithout(testFolder(t), ["net_version"]);
  write({ methodsFile, limits: { ...gateway.config.limits, batchItemsMax: 2 } });
  const { status: code, body } = await reload();
  t.equal(code, 200);
  t.equal(body.outcome, "changed");
  t.match(body.changes, [
    { path: "methodsFile" },
    { path: "limits.batchItemsMax", from: 100, to: 2 },
    { path: "methods.net_version.name", from: "net_version" },
  ]);
  t.match((await gateway.post(call)).json, { error: { code: -32601 } });
  t.match((await gateway.post([1, 2, 3].map((id) => ({ ...call, id })))).json, { error: { code: -32600 } });
  const after = await status();
  t.not(after.hash, before.hash);
  t.match(after.lastReload, { outcome: "changed", problems: [] });

  write({});
  t.equal((await reload()).body.outcome, "changed", "and back");
  t.equal((await gateway.post(call)).status, 200);
  t.equal((await status()).hash, before.hash, "the same values have the same hash");
  t.match(await reload(), { status: 200, body: { outcome: "same", changes: [] } });
});

t.test("a dry run tells what would change, and changes nothing", async (t) => {
  const { gateway, write, reload, status } = await startReloadable(t);
  const before = await status();
  write({ limits: { ...gateway.config.limits, bodyBytesMax: 1000 } });
  t.match(await reload("?dry-run"), {
    status: 200,
    body: { outcome: "checked", changes: [{ path: "limits.bodyBytesMax", from: 1_048_576, to: 1000 }] },
  });
  t.equal((await gateway.post({ ...call, params: ["x".repeat(2000)] })).status, 200);
  t.same(await status(), before);
});

t.test(
  "what cannot change without a restart is refused by its name, and nothing else is taken",
  async (t) => {
    const { gateway, write, spoil, reload, status } = await startReloadable(t);
    const metric = async () =>
      /^tollgate_config_last_reload_successful (\d)$/m.exec(
        await (await fetch(`${gateway.opsUrl}/metrics`)).text(),
      )?.[1];
    t.equal(await metric(), "1");
    write({
      port: 1234,
      redis: "redis://user:secret-password@127.0.0.1:6380",
      keys: [],
      limits: { ...gateway.config.limits, batchItemsMax: 1 },
    });
    const { status: code, body } = await reload();
    t.equal(code, 409);
    t.same(body, {
      outcome: "refused",
      problems: ["port", "redis", "keys"].map((name) => `${name} cannot change without a restart`),
    });
    t.match((await status()).lastReload, { outcome: "refused", problems: body.problems });
    t.equal(await metric(), "0");
    t.equal((await gateway.post([call, { ...call, id: 2 }])).status, 200, "the old bound goes on");
    t.notMatch(gateway.logLines.join(""), "secret-password");

    spoil(["gateway.yaml:3: limits.depthMax: a whole number from 1 to 500 was expected"]);
    t.match(await reload(), { status: 409, body: { problems: [/gateway.yaml:3/] } });
    write({ methodsFile: "/nonexistent/methods.yaml" });
    t.match(await reload(), { status: 409, body: { problems: [/nonexistent.*cannot be read/] } });
    write({ tls: { certFile: "a", keyFile: "b" } });
    t.match(await reload(), {
      status: 409,
      body: { problems: ["tls cannot be turned on or off without a restart"] },
    });
    t.equal(await metric(), "0");

    write({});
    t.equal((await reload()).body.outcome, "same");
    t.equal(await metric(), "1", "a file that is taken ends the alarm, though nothing differs");
  },
);

t.test("a request is judged by what counted at its head, however late its body comes", async (t) => {
  const { gateway, write, reload } = await startReloadable(t);
  const body = JSON.stringify([call, { ...call, id: 2 }]);
  const head = [
    "POST / HTTP/1.1",
    "Host: x",
    `X-API-Key: ${coreKey}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "",
    "",
  ].join("\r\n");
  const slow = rawRequest(gateway.port, [head, body.slice(0, 10), { pauseMs: 700 }, body.slice(10)]);
  // The key is known and the body is waited for: the head has been read by then.
  await new Promise((resolve) => setTimeout(resolve, 300));
  write({ limits: { ...gateway.config.limits, batchItemsMax: 1 } });
  t.equal((await reload()).body.outcome, "changed");
  t.match((await gateway.post(body)).json, { error: { code: -32600 } }, "the next one meets the new bound");
  const { responses } = await slow;
  t.match(JSON.parse(responses[0]?.body ?? ""), [{ result: "net_version" }, { result: "net_version" }]);
});

t.test("bounds of what is open already: WebSockets, connections, failed keys", async (t) => {
  const { gateway, write, reload } = await startReloadable(t);
  const { webSocket, connections, limits } = gateway.config;
  const one = await openWebSocket(t, gateway.url);
  write({ webSocket: { ...webSocket, connectionsPerKeyMax: 1, subscriptionsPerConnectionMax: 1 } });
  t.equal((await reload()).body.outcome, "changed");
  await t.rejects(openWebSocket(t, gateway.url), /429/);
  await one.call("eth_subscribe", ["newHeads"]);
  t.match(await one.request("eth_subscribe", ["newHeads"]), { error: { code: -32005 } });
  t.equal(one.socket.readyState, WebSocket.OPEN, "the one that was open stays");
  await one.close();

  write({ limits: { ...limits, requestsPerMinute: 2 } });
  t.equal((await reload()).body.outcome, "changed");
  const failed = [];
  for (let index = 0; index < 3; index += 1) {
    failed.push((await gateway.post(call, { key: `unknown-key-of-the-test-${index}` })).status);
  }
  t.same(failed, [401, 401, 429], "an address may fail as often as the new limit says");

  write({ connections: { ...connections, perAddressMax: 1 } });
  t.equal((await reload()).body.outcome, "changed");
  await rawRequest(gateway.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
  t.match(metrics, /^tollgate_gateway_connections_lost_total\{bound="address"\} [1-9]/m, "one made room");
});

t.test("who may ask, and how", async (t) => {
  const { gateway, write, reload, status } = await startReloadable(t);
  const { loadedAt } = await status();
  write({ limits: { ...gateway.config.limits, batchItemsMax: 1 } });
  const ask = async (options: Parameters<typeof askReload>[1]) => (await askReload(gateway, options)).status;
  t.equal(await ask({ headers: { Origin: "http://127.0.0.1:9540" } }), 403, "no web page");
  t.equal(await ask({ headers: { "Sec-Fetch-Site": "none" } }), 403);
  t.equal(await ask({ body: "/etc/other.yaml" }), 400, "no body, so no file of the client's choice");
  t.equal(await ask({ query: "?config=/etc/other.yaml" }), 400);
  const got = await fetch(`${gateway.opsUrl}/reload`);
  t.equal(got.status, 405);
  t.equal(got.headers.get("allow"), "POST");
  const foreign = await rawRequest(
    gateway.opsPort,
    "POST /reload HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n",
  );
  t.equal(foreign.status, 403, "no name of another server");
  t.equal((await status()).loadedAt, loadedAt, "none of them was carried out");

  t.equal((await reload()).body.outcome, "changed");
  t.match(await askReload(gateway), { status: 429, body: { outcome: "too_soon", retryAfterMs: Number } });
});
