import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { auditPackages } from "../../../scripts/release/audit.ts";
import { runRelease } from "../../../scripts/release/run-release.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const own = await auditPackages({ root, env: process.env });

t.test(
  "no package has a high or critical vulnerability that is known",
  // Skipped is not passed: the summary counts and names it.
  { skip: !own.asked && `NOT AUDITED: the registry could not be asked: ${own.why}` },
  async (t) => {
    if (!own.asked) return;
    for (const line of own.light) t.comment(line);
    t.same(own.grave, []);
  },
);

type Advisory = { id: number; url: string; title: string; severity: string; vulnerable_versions: string };

/** A registry that knows these advisories, and nothing else. */
async function startRegistry(t: Test, answer: { status: number; advisories?: Record<string, Advisory[]> }) {
  const server = createServer((request, response) => {
    request.resume();
    const isAudit = request.method === "POST" && request.url === "/-/npm/v1/security/advisories/bulk";
    response.writeHead(isAudit ? answer.status : 404, { "Content-Type": "application/json" });
    response.end(JSON.stringify(isAudit ? (answer.advisories ?? {}) : {}));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/`;
}

async function audit(registry: string) {
  const cache = mkdtempSync(join(tmpdir(), "tollgate-audit-"));
  t.teardown(() => rmSync(cache, { recursive: true, force: true }));
  const lines: string[] = [];
  const say = (line: string) => lines.push(line);
  const env = {
    ...process.env,
    npm_config_registry: registry,
    npm_config_fetch_retries: "0",
    npm_config_cache: cache,
  };
  const code = await runRelease({
    args: ["audit"],
    env,
    root,
    now: () => new Date(0),
    print: say,
    note: say,
  });
  return { code, text: lines.join("\n") };
}

const severities = ["moderate", "high", "critical"];
const advisory = (severity: string): Advisory => ({
  // npm keeps what an id stands for.
  id: severities.indexOf(severity) + 1,
  url: "https://advisories.example/1",
  title: "It can be made to fall",
  severity,
  vulnerable_versions: "*",
});

t.test("what the registry knows decides, and one that cannot be asked is no clean one", async (t) => {
  const clean = await audit(await startRegistry(t, { status: 200 }));
  t.match(clean, { code: 0, text: "No package has a high or critical vulnerability" });
  for (const severity of ["high", "critical"]) {
    const found = await audit(
      await startRegistry(t, { status: 200, advisories: { pino: [advisory(severity)] } }),
    );
    t.match(found, {
      code: 1,
      text: `pino: ${severity}: It can be made to fall, https://advisories.example/1`,
    });
  }
  const light = await audit(
    await startRegistry(t, { status: 200, advisories: { pino: [advisory("moderate")] } }),
  );
  t.match(light, { code: 0, text: /pino: moderate[\s\S]*lesser/ });
  for (const status of [405, 404, 500]) {
    t.match(await audit(await startRegistry(t, { status })), { code: 1, text: "NOT AUDITED" }, `${status}`);
  }
});
