import { z } from "zod";
import type { Check } from "./check.ts";
import { largeAnswers, poison, variants, votes } from "./checks/answers.ts";
import { fees, finality, logsAndFilters, waitingTransaction } from "./checks/chain.ts";
import { paidOrder } from "./checks/contracts.ts";
import { savedData, upgrade } from "./checks/data.ts";
import { membership } from "./checks/membership.ts";
import { oneAway, twoDown } from "./checks/outages.ts";
import { subscriptions } from "./checks/subscriptions.ts";
import { contractAndTraces, valueTraces } from "./checks/traces.ts";

const blockSchema = z.object({ hash: z.string() });

/** In this order: each leaves the network as it found it. */
export const checks: readonly Check[] = [
  {
    title: "first block",
    proves:
      "that Besu takes each option of our `config.toml` as meant, and its own time to a first block (34 to 43 s)",
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
    proves: "that Besu reckons the hash of our genesis file as we do",
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
  {
    title: "one killed",
    proves: "how its database takes a SIGKILL",
    look: ({ rig, short }) => oneAway(rig, short, () => rig.kill(1)),
  },
  {
    title: "one stopped",
    proves: "how it ends by SIGTERM, and comes back",
    look: ({ rig, short }) => oneAway(rig, short, async () => void (await rig.command("stop", "2"))),
  },
  {
    title: "two down, sends and a claim in between, recover",
    proves:
      "`tx-pool-enable-save-restore` in Besu's own pool; the halt of IBFT below its quorum, and the 44 s of a restart",
    look: ({ rig }) => twoDown(rig),
  },
  {
    title: "all down",
    proves: "the database after an end of all",
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
    proves: "how fast Besu fetches a chain from its peers",
    async look({ rig }) {
      const { code, text } = await rig.command("wipe", "3");
      if (code !== 0) return { ok: false, seen: text };
      const seconds = await rig.statusIs(0);
      return { ok: true, seen: `all is well again ${seconds} s after its restart` };
    },
  },
  {
    title: "a validator votes for its operator alone",
    proves: "Besu's reading of the public key and of the token",
    look: ({ rig }) => votes(rig),
  },
  {
    title: "a validator voted in, replaced by another, and out again",
    proves:
      "that Besu counts votes as its source reads, and the set is never smaller meanwhile; peers that call a node which is in no list of theirs",
    look: ({ rig }) => membership(rig),
  },
  {
    title: "the methods that pass the gateway",
    proves: "all of it: a stand-in has few methods",
    look: ({ rig }) => variants(rig),
  },
  {
    title: "a block stays, and the tags of finality mean it",
    proves: "that no block of IBFT 2.0 is ever replaced; what Besu says of `safe` and `finalized`",
    look: ({ rig }) => finality(rig),
  },
  {
    title: "no fees",
    proves: "`zeroBaseFee` and `min-gas-price=0` as Besu takes them",
    look: ({ rig }) => fees(rig),
  },
  {
    title: "a transaction waits for the one before it",
    proves: "the order and the gaps of Besu's layered pool",
    look: ({ rig }) => waitingTransaction(rig),
  },
  {
    title: "logs and filters",
    proves: "Besu's logs of a range, and blocks as its heads tell of them",
    look: ({ rig }) => logsAndFilters(rig),
  },
  {
    title: "the traces of a sent value",
    proves: "that `trace_` and `debug_` have the fields that were recorded of Besu 26.8.0",
    look: ({ rig }) => valueTraces(rig),
  },
  {
    title: "a contract and its traces",
    proves: "everything that runs the EVM: creation, code, each step of a constructor in `debug_`",
    look: ({ rig }) => contractAndTraces(rig),
  },
  {
    title: "an order paid through the FeeCollector",
    proves:
      "the contracts on Besu's own EVM: CREATE2, a recovered signature, shares passed on, the event as the API reads it, no second payment",
    look: ({ rig }) => paidOrder(rig),
  },
  {
    title: "a validator's data, saved and put back",
    proves: "that Besu goes on with a database that was copied while it stood still",
    look: ({ rig }) => savedData(rig),
  },
  {
    title: "large answers",
    proves: "answers of many megabytes",
    look: ({ rig, short }) => largeAnswers(rig, short),
  },
  {
    title: "subscriptions over a kill",
    proves: "Besu's WebSockets",
    look: ({ rig, short }) => subscriptions(rig, short),
  },
  { title: "poison traces", proves: "what a trace costs", look: ({ rig }) => poison(rig) },
  {
    title: "another release, one validator after the other",
    proves: "that two releases make blocks together, and the new one reads the old one's database",
    look: ({ rig }) => upgrade(rig),
  },
];
