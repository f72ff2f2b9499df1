import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";

const root = fileURLToPath(new URL("..", import.meta.url));
const text = readFileSync(`${root}SECURITY.md`, "utf8");

t.test("each test that SECURITY.md names is there", async (t) => {
  const named = [...text.matchAll(/`((?:[\w-]+\/)+)(?:\{([\w,-]+)\}|([\w-]+))\.test\.ts`/g)].flatMap(
    ([, folder = "", several, one]) =>
      (several?.split(",") ?? [one ?? ""]).map((name) => `${folder}${name}.test.ts`),
  );
  t.ok(named.length > 20, `${named.length} tests`);
  for (const name of named) {
    const places = [name, `test/gateway/${name}`, `test/gateway/upstream/${name}`];
    t.ok(
      places.some((place) => existsSync(root + place)),
      name,
    );
  }
});

t.test("each setting that SECURITY.md names is in a file of config/", async (t) => {
  const files = ["gateway", "methods", "faucet", "api"].map((name) => `${root}config/${name}.yaml`);
  const configured = files.map((file) => readFileSync(file, "utf8")).join("\n");
  const named = [...text.matchAll(/`(?:[a-z][A-Za-z]+\.)+([a-z][A-Za-z]+)(?:: \w+)?`/g)]
    .filter(([whole]) => !/\.(md|ts|yaml|sha256|txt)`/.test(whole))
    .map(([, name = ""]) => name);
  t.ok(named.length > 20, `${named.length} settings`);
  for (const name of named) t.match(configured, new RegExp(`\\b${name}:`), name);
});
