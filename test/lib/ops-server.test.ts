import { request } from "node:http";
import { Registry } from "prom-client";
import t, { type Test } from "tap";
import { type OpsAnswer, startOpsServer } from "../../lib/ops-server.ts";

t.test("POST /restart is for a program on this machine, and for nobody else", async (t) => {
  let restarts = 0;
  const port = await start(t, () => {
    restarts += 1;
    return { status: 202, body: { outcome: "begun" } };
  });
  const refused = [
    { says: "GET", method: "GET", status: 405 },
    { says: "another host's name", headers: { Host: "evil.example" }, status: 403 },
    { says: "a web page", headers: { Origin: "http://127.0.0.1" }, status: 403 },
    { says: "a page's form", headers: { "Sec-Fetch-Site": "same-origin" }, status: 403 },
    { says: "a body", headers: { "Content-Length": "2" }, body: "{}", status: 400 },
    { says: "a body of no length", headers: { "Transfer-Encoding": "chunked" }, body: "{}", status: 400 },
    { says: "a query", path: "/restart?dry-run", status: 400 },
    { says: "another path", path: "/restart/now", status: 404 },
  ];
  for (const { says, status, ...asked } of refused) t.equal(await ask(port, asked), status, says);
  t.equal(restarts, 0, "none of them has restarted anything");
  t.equal(await ask(port, {}), 202);
  t.equal(restarts, 1);
});

t.test("one process that serves alone says why it cannot be restarted", async (t) => {
  const port = await start(t, undefined);
  const response = await fetch(`http://127.0.0.1:${port}/restart`, { method: "POST" });
  t.equal(response.status, 409);
  t.match(await response.text(), "one process serves here: it is restarted by stopping and starting it");
});

async function start(t: Test, restart: (() => OpsAnswer) | undefined): Promise<number> {
  const ops = await startOpsServer({
    host: "127.0.0.1",
    port: 0,
    hosts: [],
    registry: new Registry(),
    readiness: () => ({ ready: true, reasons: [] }),
    status: () => ({}),
    restart,
  });
  t.teardown(ops.stop);
  return ops.port;
}

/** The status of the answer. */
function ask(
  port: number,
  {
    path = "/restart",
    method = "POST",
    headers = {},
    body = "",
  }: { path?: string; method?: string; headers?: Record<string, string>; body?: string },
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
