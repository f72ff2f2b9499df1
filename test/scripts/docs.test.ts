import { readFileSync } from "node:fs";
import t from "tap";
import { errorTable } from "../../lib/errors.ts";
import { gatewayRegistry, regenerate } from "../../scripts/docs/generated.ts";

const readme = readFileSync(new URL("../../gateway/README.md", import.meta.url), "utf8");

t.test(
  "the generated parts of the gateway's README are what the code says (else: npm run docs)",
  async (t) => {
    t.equal(regenerate(readme), readme);
  },
);

t.test("the README documents every metric and every error code", async (t) => {
  for (const { name } of gatewayRegistry().getMetricsAsArray()) {
    if (name.startsWith("tollgate_")) t.ok(readme.includes(`\`${name}\``), name);
  }
  for (const { code } of Object.values(errorTable)) t.ok(readme.includes(`\`${code}\``), code);
});

t.test("a marker that nothing generates is an error", async (t) => {
  t.throws(() => regenerate("<!-- generated: nonsense -->\n<!-- end -->"), /nothing generates "nonsense"/);
});
