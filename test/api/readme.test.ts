import { readFileSync } from "node:fs";
import t from "tap";
import { validatorRecord } from "../../api/records/block.ts";
import { publishedRoutes } from "../../scripts/docs/api-endpoints.ts";
import { apiExamples, otherExamples } from "../../scripts/docs/api-examples.ts";
import { apiRegistry, isOurs } from "../../scripts/docs/generated.ts";
import { startApi } from "./support/start-api.ts";
import { alice, bob, startWorld } from "./support/start-world.ts";

const readme = readFileSync(new URL("../../api/README.md", import.meta.url), "utf8");

const world = await startWorld(t);
const api = await startApi(t, world.services);
const { hash }: { hash: string } = JSON.parse((await api.get("/api/v1/blocks/1")).text);
const filled = (ask: string) =>
  ask
    .replace("$ADDRESS", bob)
    .replace("$TX", world.hashes.payment)
    .replace("$BLOCK", hash)
    .replace("$VALIDATOR", alice);

t.test("each endpoint's example answers as the README says", async (t) => {
  for (const { operationId } of publishedRoutes()) {
    const { ask, answer } = apiExamples[operationId] ?? { ask: "", answer: "" };
    const { status, text } = await api.get(filled(ask));
    if (operationId === "getValidator") {
      // A dev chain has none.
      t.equal(status, 404);
      for (const key of Object.keys(Object(read(answer)))) t.ok(key in validatorRecord.shape, key);
      continue;
    }
    t.equal(status, 200, operationId);
    compare(t, { where: operationId, told: answer, got: text });
  }
});

t.test("so do the endpoints beside the table of routes", async (t) => {
  for (const { endpoint, ask, answer } of otherExamples) {
    const isPost = endpoint.startsWith("POST");
    const listening = new AbortController();
    const response = await fetch(`${api.url}${ask}`, {
      signal: listening.signal,
      ...(isPost
        ? {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ query: "{ chain { blockNumber chainId } }" }),
          }
        : {}),
    });
    t.equal(response.status, 200, endpoint);
    if (ask === "/api/v1/live") {
      const first = await response.body?.getReader().read();
      t.match(Buffer.from(first?.value ?? "").toString(), /^retry: 2000/);
      listening.abort();
    } else compare(t, { where: endpoint, told: answer, got: await response.text() });
  }
});

t.test("the README has every metric, and an API has no other", async (t) => {
  for (const { name } of apiRegistry().getMetricsAsArray()) {
    if (isOurs(name)) t.ok(readme.includes(`\`${name}\``), name);
  }
  const started = (await (await fetch(`${api.opsUrl}/metrics`)).text()).matchAll(/^# HELP (\S+)/gm);
  for (const [, name = ""] of started) {
    if (isOurs(name)) t.ok(readme.includes(`\`${name}\``), `${name}, which an API has`);
  }
});

/** An answer of the README as a value: what `…` leaves out is taken away. */
function read(answer: string): unknown {
  return JSON.parse(answer.replaceAll(/,…(?=[}\]])/g, ""));
}

/** A shortened answer against a real one: a JSON value's form, or how a text begins. */
function compare(
  t: Pick<typeof import("tap").t, "ok" | "equal">,
  { where, told, got }: { where: string; told: string; got: string },
) {
  if (!/^[[{]/.test(told))
    return t.ok(got.startsWith(told.replace(/…$/, "")), `${where}: ${got.slice(0, 80)}`);
  for (const difference of differences(where, read(told), JSON.parse(got))) t.ok(false, difference);
  return t.ok(true, where);
}

/** Where the example has a key or a kind of value that the answer has not; null stands for any. */
function differences(where: string, told: unknown, got: unknown): string[] {
  if (told === null || got === null) return [];
  if (Array.isArray(told) || Array.isArray(got)) {
    if (!Array.isArray(told) || !Array.isArray(got)) return [`${where}: a list on one side`];
    const [ours] = told;
    return ours === undefined || got.length === 0 ? [] : differences(`${where}[0]`, ours, got[0]);
  }
  if (typeof told !== typeof got) return [`${where}: ${typeof told} is told, ${typeof got} is answered`];
  if (typeof told !== "object" || typeof got !== "object") return [];
  const answered = new Map(Object.entries(got));
  return Object.entries(told).flatMap(([key, value]) =>
    answered.has(key)
      ? differences(`${where}.${key}`, value, answered.get(key))
      : [`${where}.${key} is not there`],
  );
}
