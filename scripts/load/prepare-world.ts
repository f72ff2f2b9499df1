import { hash } from "node:crypto";
import { SigningKey } from "ethers/crypto";
import { type AskGateway, quantitySchema, readAnswer } from "./http/ask-gateway.ts";
import { fundSenders } from "./mix/fund-senders.ts";
import type { Mix, MixItem, MixStep, SenderSettings } from "./mix/mix-schema.ts";
import { type RecentBlocks, readRecentBlocks } from "./mix/recent-blocks.ts";
import { createScope } from "./mix/scope.ts";
import { createSenderKeys } from "./mix/sender-keys.ts";
import { createSenders, type Senders } from "./mix/senders.ts";
import { findPlaceholders, type Scope } from "./mix/template.ts";
import type { RunSetup } from "./run-setup.ts";

/** What a mix needs of the chain before the first arrival. */
export type World = {
  chainId: bigint;
  scope: Scope;
  recentBlocks: RecentBlocks | undefined;
  senders: Senders | undefined;
};

const resyncAfterMs = 1_000;

/**
 * Asks the gateway whether it can be used at all, reads recent blocks and funds senders, as far as the mix needs them.
 *
 * @throws GatewayError that says what to do.
 */
export async function prepareWorld({
  setup: { mix, funderKey, part },
  ask,
  timeoutMs,
  random,
  now,
  sleep,
  say,
}: {
  setup: RunSetup;
  ask: AskGateway;
  timeoutMs: number;
  random: () => number;
  now: () => number;
  sleep: (lengthMs: number) => Promise<void>;
  say: (text: string) => void;
}): Promise<World> {
  const [answer] = await ask([{ method: "eth_chainId", params: [] }]);
  const chainId = readAnswer(answer, { schema: quantitySchema, method: "eth_chainId" });
  const used = namesIn(mix);
  const needsBlocks = ["block", "blockHash", "transactionHash"].some((name) => used.has(name));
  const recentBlocks = needsBlocks ? await readRecentBlocks({ ask, blocksMax: mix.recentBlocks }) : undefined;
  const senders = mix.senders && (await prepareSenders(mix.senders, chainId));
  return {
    chainId,
    scope: createScope({
      accounts: createAccounts(mix.accounts),
      senders: senders?.addresses ?? [],
      recentBlocks,
      random,
    }),
    recentBlocks,
    senders,
  };

  async function prepareSenders(settings: SenderSettings, id: bigint): Promise<Senders> {
    const keys = createSenderKeys(settings).filter((_, index) => index % part.of === part.index);
    const created = await createSenders({ keys, ask, now, sleep, timeoutMs, resyncAfterMs });
    await fundSenders({
      ask,
      addresses: created.addresses,
      funder: funderKey === undefined ? undefined : new SigningKey(funderKey),
      fundTokens: settings.fundTokens,
      chainId: id,
      say,
      gasPriceWei: BigInt(settings.gasPriceWei),
    });
    return created;
  }
}

/** The names of all placeholders in a mix. */
function namesIn(mix: Mix): Set<string> {
  const steps: (MixItem | MixStep)[] = mix.items.flatMap((item) => item.sequence ?? [item]);
  return new Set(
    steps
      .flatMap(({ params, batch, send }) => findPlaceholders({ params, batch, send }))
      .map(({ placeholder }) => placeholder.name),
  );
}

/** The addresses of `$account`: those of the list, or as many as `count` that follow from the seed and hold nothing. */
function createAccounts({ count, seed, list }: Mix["accounts"]): readonly string[] {
  if (list !== undefined) return list;
  return Array.from({ length: count }, (_, index) => `0x${hash("sha256", `${seed}:${index}`).slice(0, 40)}`);
}
