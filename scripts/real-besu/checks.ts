import { z } from "zod";
import type { Check } from "./check.ts";
import { largeAnswers, poison, variants, votes } from "./checks/answers.ts";
import { membership } from "./checks/membership.ts";
import { oneAway, twoDown } from "./checks/outages.ts";
import { subscriptions } from "./checks/subscriptions.ts";

const blockSchema = z.object({ hash: z.string() });

/** In this order: each leaves the network as it found it. */
export const checks: readonly Check[] = [
  {
    title: "first block",
    async look({ rig }) {
      const { code, text, tookMs } = await rig.up();
      if (code !== 0) return { ok: false, seen: text };
      await rig.servicesReady();
      const found = /The network is up: (block \d+ after \d+ s)/.exec(text)?.[1] ?? text;
      return { ok: true, seen: `${found}; the command took ${Math.round(tookMs / 1000)} s` };
    },
  },
  {
    title: "genesis hash",
    async look({ rig }) {
      const hashes = await Promise.all(
        rig.nodes.map(async (_node, index) => {
          const answer = await rig.node(index, "eth_getBlockByNumber", ["0x0", false]);
          return blockSchema.safeParse(answer?.result).data?.hash;
        }),
      );
      const ok = hashes.every((hash) => hash === rig.manifest.genesisHash);
      return { ok, seen: ok ? `${rig.manifest.genesisHash} on all` : hashes.join(", ") };
    },
  },
  { title: "one killed", look: ({ rig, short }) => oneAway(rig, short, () => rig.kill(1)) },
  {
    title: "one stopped",
    look: ({ rig, short }) => oneAway(rig, short, async () => void (await rig.command("stop", "2"))),
  },
  { title: "two down, sends and a claim in between, recover", look: ({ rig }) => twoDown(rig) },
  {
    title: "all down",
    async look({ rig }) {
      const before = await rig.height();
      await Promise.all(rig.nodes.map(({ name }) => rig.command("stop", name)));
      await rig.statusIs(1);
      const { code, text } = await rig.command("up");
      if (code !== 0) return { ok: false, seen: text };
      await rig.servicesReady();
      const seconds = await rig.until("a block more than before", async () => (await rig.height()) > before);
      return { ok: true, seen: `from block ${before} on, ${seconds} s after up` };
    },
  },
  {
    title: "one wiped",
    async look({ rig }) {
      const { code, text } = await rig.command("wipe", "3");
      if (code !== 0) return { ok: false, seen: text };
      const seconds = await rig.statusIs(0);
      return { ok: true, seen: `all is well again ${seconds} s after its restart` };
    },
  },
  { title: "a validator votes for its operator alone", look: ({ rig }) => votes(rig) },
  { title: "a validator voted in, and out again", look: ({ rig }) => membership(rig) },
  { title: "the methods that pass the gateway", look: ({ rig }) => variants(rig) },
  { title: "large answers", look: ({ rig, short }) => largeAnswers(rig, short) },
  { title: "subscriptions over a kill", look: ({ rig, short }) => subscriptions(rig, short) },
  { title: "poison traces", look: ({ rig }) => poison(rig) },
];
