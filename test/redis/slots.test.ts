import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { hashSlot } from "../../lib/redis/hash-slot.ts";

t.test("slots are those of Redis's own CLUSTER KEYSLOT", async (t) => {
  // From the cluster specification, and of redis-server 7.0.15.
  for (const [key, slot] of [
    ["123456789", 12_739],
    ["foo", 12_182],
    ["{foo}.bar", 12_182],
    ["foo{}{bar}", 8363],
    ["foo{{bar}}zap", 4015],
    ["foo{bar}{zap}", 5061],
    ["", 0],
  ] as const) {
    t.equal(hashSlot(key), slot, key);
  }
});

/** Arguments that fit every function that makes a key: a text, or an object with all names that any of them takes. */
const names = { team: "acme", keyId: "k_1", id: "0x1" };

t.test("keys that one script is given share a slot: a file's tag decides", async (t) => {
  const folder = fileURLToPath(new URL("../../lib/redis/keys/", import.meta.url));
  const keys: string[] = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts"))) {
    const module: Record<string, unknown> = await import(`${folder}${file}`);
    for (const [name, made] of Object.entries(module)) {
      const key = typeof made === "function" ? Reflect.apply(made, undefined, [argumentOf(name)]) : made;
      t.type(key, "string", `${file}: ${name}`);
      if (typeof key === "string") keys.push(key);
    }
  }
  const tags = new Map<string, Set<number>>();
  for (const key of keys) {
    const tag = /^\{[^{}]+\}/.exec(key)?.[0];
    if (tag === undefined) continue;
    tags.set(tag, (tags.get(tag) ?? new Set()).add(hashSlot(key)));
  }
  for (const [tag, slots] of tags) t.equal(slots.size, 1, tag);
  // Who has no tag stands alone: its commands touch one key.
  const untagged = keys.filter((key) => !key.startsWith("{")).sort();
  t.same(untagged, ["api-requests:text", "failures", "svc-dev:key:text"]);
  const team = (key: string) => key.startsWith("{team:acme}");
  t.ok(keys.some(team), "budgets are among them");
});

function argumentOf(name: string): unknown {
  return ["keyBudgetKey", "filterRowKey"].includes(name) ? names : "text";
}
