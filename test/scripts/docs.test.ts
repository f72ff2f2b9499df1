import { readFileSync } from "node:fs";
import t from "tap";
import { errorTable } from "../../lib/errors.ts";
import { gatewayRegistry, regenerate, wholeFiles } from "../../scripts/docs/generated.ts";
import { behaviours, clients, type Situation } from "../clients/behaviours.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const readme = read("gateway/README.md");

t.test("the generated parts of the documents are what the code says (else: npm run docs)", async (t) => {
  t.equal(regenerate(readme), readme);
  const clientsPage = read("gateway/CLIENTS.md");
  t.equal(regenerate(clientsPage), clientsPage);
  const faucetReadme = read("faucet/README.md");
  t.equal(regenerate(faucetReadme), faucetReadme);
  const apiReadme = read("api/README.md");
  t.equal(regenerate(apiReadme), apiReadme);
  const realBesu = read("docs/real-besu.md");
  t.equal(regenerate(realBesu), realBesu);
  const chartReadme = read("docker/helm/tollgate/README.md");
  t.equal(regenerate(chartReadme), chartReadme);
  for (const [file, text] of Object.entries(wholeFiles)) t.equal(read(file), text, file);
});

t.test("the table of clients has a row for each of them in every situation that all can be in", async (t) => {
  const all: Situation[] = ["unauthorized", "limited", "methodRefused", "unavailable"];
  for (const client of Object.keys(clients)) {
    const met = behaviours.filter((row) => row.client === client).map(({ situation }) => situation);
    // With a setting of its own a client is there only for what that changes.
    if (client.includes(", ")) t.not(met.length, 0, client);
    else
      t.same(
        all.filter((situation) => !met.includes(situation)),
        [],
        client,
      );
  }
});

t.test("the README documents every metric and every error code", async (t) => {
  for (const { name } of gatewayRegistry().getMetricsAsArray()) {
    if (name.startsWith("tollgate_")) t.ok(readme.includes(`\`${name}\``), name);
  }
  for (const { code } of Object.values(errorTable)) t.ok(readme.includes(`\`${code}\``), code);
});

t.test("a marker that nothing generates is an error", async (t) => {
  t.throws(() => regenerate("<!-- generated: nonsense -->\n<!-- end -->"), /nothing generates "nonsense"/);
});
