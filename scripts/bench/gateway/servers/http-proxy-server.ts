import { readFileSync } from "node:fs";
import { Agent, createServer } from "node:http";
import { createProxyServer } from "http-proxy";
import type { ServerSettings } from "../contestants/node-server.ts";

/** The contestant "http-proxy": its documentation's example, behind a key check. */

const { port, keys, validators }: ServerSettings = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const known = new Set(keys.map(({ value }) => value));
const proxy = createProxyServer({ agent: new Agent({ keepAlive: true }) });
proxy.on("error", (_error, _request, response) => {
  if ("writeHead" in response) response.writeHead(502);
  response.end();
});
let next = 0;

createServer((request, response) => {
  const key = request.headers["x-api-key"];
  if (typeof key !== "string" || !known.has(key)) {
    request.resume();
    response.writeHead(401).end();
    return;
  }
  next = (next + 1) % validators.length;
  proxy.web(request, response, { target: validators[next] ?? "" });
}).listen(port, "127.0.0.1");
