import { fileURLToPath } from "node:url";
import t from "tap";
import { updateComposeEnvironment } from "../../genesis/compose-environment.ts";
import { readNetworkConfig } from "../../genesis/config.ts";
import { type Manifest, slotOf } from "../../genesis/manifest.ts";
import {
  nextValidatorName,
  readValidatorName,
  withoutValidator,
  withValidator,
} from "../../genesis/members.ts";
import { planNetwork } from "../../genesis/network-files.ts";
import { createNodeKey } from "../../genesis/node-key.ts";

const shipped = fileURLToPath(new URL("../../config/network.yaml", import.meta.url));

function network(overrides: Readonly<Record<string, unknown>> = {}) {
  const config = readNetworkConfig({ file: shipped, env: {}, overrides });
  const { files, manifest } = planNetwork({ config, createKey: createNodeKey });
  return { manifest, compose: files.find(({ path }) => path === "compose.env")?.content ?? "" };
}

function mustAdd(manifest: Manifest, name: string) {
  const added = withValidator({ manifest, name, key: createNodeKey() });
  if ("refused" in added) throw new Error(added.refused);
  return added;
}

t.test("names", async (t) => {
  t.same(["6", "validator-6", "999"].map(readValidatorName), ["validator-6", "validator-6", "validator-999"]);
  for (const word of ["", "0", "06", "1000", "validator-", "validator-x", "../6", "6 ", "trace-node", "-6"]) {
    t.equal(readValidatorName(word), undefined, JSON.stringify(word));
  }
  t.equal(nextValidatorName(network().manifest), "validator-6");
});

t.test("a new node takes an address and ports that nobody has or had, and moves nobody's", async (t) => {
  const { manifest } = network({ traceNode: { enabled: true, javaMemoryMb: 300 } });
  const six = mustAdd(manifest, "validator-6");
  t.match(six.place, { host: "172.28.84.17", slot: 6 }, "behind the trace node");
  const slots = (one: Manifest) =>
    [...one.validators, ...(one.formerValidators ?? [])].map(({ name }) => slotOf(one, name));
  t.same(slots(six.manifest), [0, 1, 2, 3, 4, 6]);
  t.equal(slotOf(six.manifest, "trace-node"), 5);
  const without = withoutValidator({ manifest: six.manifest, name: "validator-6" });
  t.same(
    without.formerValidators?.map(({ name }) => name),
    ["validator-6"],
  );
  const seven = mustAdd(without, "validator-7");
  t.match(seven.place, { host: "172.28.84.18", slot: 7 });
  t.equal(nextValidatorName(without), "validator-7");
  const withoutFirst = withoutValidator({ manifest: seven.manifest, name: "validator-1" });
  t.same(
    withoutFirst.validators.map(({ name }) => [name, slotOf(withoutFirst, name)]),
    [
      ["validator-2", 1],
      ["validator-3", 2],
      ["validator-4", 3],
      ["validator-5", 4],
      ["validator-7", 7],
    ],
  );
  const back = mustAdd(withoutFirst, "validator-1");
  t.match(back.place, { host: "172.28.84.11", slot: 0 }, "a former one gets its place back");
  t.notMatch(back.manifest.formerValidators, [{ name: "validator-1" }]);
});

t.test("there is an end of it", async (t) => {
  const { manifest } = network({ validators: 32 });
  t.match(withValidator({ manifest, name: "validator-33", key: createNodeKey() }), { refused: /32 nodes/ });
  const [first] = manifest.validators;
  if (first === undefined) throw new Error("there is none");
  const last = { ...network().manifest, validators: [{ ...first, host: "10.0.0.254" }] };
  t.match(withValidator({ manifest: last, name: "validator-2", key: createNodeKey() }), {
    refused: /no address is left/,
  });
});

t.test("compose.env keeps what an operator has written", async (t) => {
  const { manifest, compose } = network();
  const after = mustAdd(manifest, "validator-6").manifest;
  const text = `${compose}TOLLGATE_PROFILE=production\n`;
  const updated = updateComposeEnvironment({ text, before: manifest, after });
  t.same(updated.own, []);
  t.match(updated.text, /^UPSTREAMS=.*validator-6=http:\/\/172\.28\.84\.16:8545$/m);
  t.match(updated.text, /^VALIDATOR_6=172\.28\.84\.16$/m);
  t.match(updated.text, /^TOLLGATE_PROFILE=production$/m);
  t.equal(updated.text.match(/^UPSTREAMS=/gm)?.length, 1);
  t.same(updateComposeEnvironment({ text: updated.text, before: manifest, after }), {
    text: updated.text,
    own: [],
  });

  const own = updateComposeEnvironment({
    text: `${text}UPSTREAMS=mine=http://10.0.0.1:8545\n`,
    before: manifest,
    after,
  });
  t.match(own.text, /^UPSTREAMS=mine=http:\/\/10\.0\.0\.1:8545$/m, "a line of one's own stays");
  t.match(own.own, [/^UPSTREAMS=.*validator-6=/]);
});
