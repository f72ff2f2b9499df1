import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { findHelmTools, type HelmTools } from "./helm-tools.ts";
import { chartFolder, renderChart, temporaryFolder, writeNetworkFiles } from "./render-chart.ts";

const set = (...values: string[]) => values.flatMap((value) => ["--set", value]);

/** Values of production.yaml with these beside them, and what is said of them. */
const refused: readonly (readonly [what: string, args: readonly string[], says: RegExp])[] = [
  ["no image", set("image.repository="), /image\.repository: say where your image/],
  ["a key that is none", set("gateway.replica=3"), /'\/gateway'.*'replica' not allowed/],
  ["a text for a number", set("gateway.autoscaling.maxReplicas=many"), /maxReplicas'.*want integer/],
  ["root", set("user=0"), /'\/user'.*minimum/],
  ["a profile that is none", set("profile=staging"), /'\/profile'.*'development', 'production'/],
  ["a proxy that is no range", set("gateway.trustedProxies={ingress}"), /trustedProxies\/0'.*does not match/],
  ["an origin with a path", set("api.origins[0]=https://a.example/x"), /origins\/0'.*does not match/],
  ["ops ports for anybody", ["--set-json", "networkPolicy.prometheusFrom=[]"], /prometheusFrom'.*minItems/],
  ["a pod without a limit of memory", set("gateway.resources.limits.memory=null"), /limits'.*memory/],
  ["a file that config/ has not", set("config.other\\.yaml=x"), /'\/config'.*'other.yaml' not allowed/],
  ["no keys of validators", set("validators.keysSecret="), /validators\.keysSecret is missing/],
  [
    "no genesis",
    ["--set-file", "network.genesis=/dev/null"],
    /network\.genesis is missing: npm run genesis -- init/,
  ],
  [
    "a manifest that is none",
    ["--set-file", `network.manifest=${chartFolder}/Chart.yaml`],
    /network\.manifest: network\.json was expected/,
  ],
  ["validators elsewhere, nowhere", set("validators.enabled=false"), /gateway\.upstreams is missing/],
  ["no Redis", set("redis.urlSecret="), /redis\.urlSecret is missing/],
  ["the faucet's claims nowhere", set("faucetRedis.urlSecret="), /faucetRedis\.urlSecret is missing/],
  ["a faucet that has no key", set("faucet.upstreamKeySecret="), /faucet\.upstreamKeySecret is missing/],
  ["a faucet that has no wallet", set("faucet.keystoreSecret="), /faucet\.keystoreSecret is missing/],
  ["an API without a key", set("api.upstreamKeySecret="), /api\.upstreamKeySecret is missing/],
  ["an API without PostgreSQL", set("postgresql.urlSecret="), /postgresql\.urlSecret is missing/],
  ["an API that is nowhere", set("api.publicUrl="), /api\.publicUrl is missing/],
  [
    "one origin in production",
    ["--set-json", 'api.origins=["https://www.example.org"]'],
    /api\.origins: in production name exactly two/,
  ],
  ["development's fees in production", set("config.fees\\.yaml="), /config\.fees\.yaml is missing/],
  [
    "more pods at least than at most",
    set("api.autoscaling.minReplicas=9"),
    /minReplicas is 9, more than maxReplicas, 6/,
  ],
  [
    "proxies that anybody can be",
    ["--set-json", "networkPolicy.publicFrom=[]"],
    /networkPolicy\.publicFrom is missing: with gateway/,
  ],
  [
    "more workers than cores",
    set("gateway.workers=3"),
    /gateway\.workers is 3 and gateway\.resources\.limits\.cpu is 2: .* allow at least 3/,
  ],
  [
    "more workers than a part of a core",
    set("gateway.workers=2", "gateway.resources.limits.cpu=1900m"),
    /limits\.cpu is 1900m: .* allow at least 2/,
  ],
  [
    "more workers of the api than cores",
    set("api.workers=3"),
    /api\.workers is 3 and api\.resources\.limits\.cpu is 2: .* allow at least 3/,
  ],
  ["no worker", set("gateway.workers=0"), /workers'.*minimum/],
  [
    "a host of what is not there",
    set("faucet.enabled=false"),
    /ingress\.faucetHost is set while faucet\.enabled is false/,
  ],
];

const tools = findHelmTools();
if ("missing" in tools) t.plan(0, tools.missing);
else await testRefusals(tools);

async function testRefusals(tools: HelmTools): Promise<void> {
  const network = writeNetworkFiles(t);
  for (const [what, args, says] of refused) {
    await t.test(`${what} is refused in words`, async (t) => {
      const rendered = await renderChart(t, { tools, values: "production", args: [...network, ...args] });
      t.match("refused" in rendered ? rendered.refused : "it was taken", says);
    });
  }

  await t.test("a gap in the numbers of validators is refused, since a StatefulSet has none", async (t) => {
    const file = join(temporaryFolder(t), "network.json");
    const node = { nodeId: "ab", host: "h", peerPort: 1, httpPort: 2, metricsPort: 3 };
    const validators = ["validator-1", "validator-3"].map((name) => ({ ...node, name }));
    writeFileSync(file, JSON.stringify({ javaMemoryMb: 512, validators }));
    const args = [...network, "--set-file", `network.manifest=${file}`];
    const rendered = await renderChart(t, { tools, values: "production", args });
    t.match(rendered, { refused: /validator-2 was expected in place 2 and validator-3 is there/ });
  });
}
