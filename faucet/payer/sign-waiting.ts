import type { Claim, SignedClaim } from "../claims/claim.ts";
import type { Round } from "./payer-context.ts";

/**
 * Signs the claims that wait longest, while there is room and the wallet has the funds: a validator would take a
 * transaction without funds and never mine it. Each signature is stored with its nonce before it leaves the process. One that
 * was not stored is dropped. Returns what was signed, and why the rest was not, in words.
 */
export async function signWaiting(
  round: Round,
  {
    open,
    firstNonce,
    isNonceFree,
  }: { open: readonly SignedClaim[]; firstNonce: number; isNonceFree: () => Promise<boolean> },
): Promise<{ signed: SignedClaim[]; hindrance: string | undefined }> {
  const { store, wallet, fence, snapshot, settings, atPoint } = round;
  const room = Math.max(0, settings.inFlightMax - open.length);
  if (room === 0 || (await store.isPaused())) return { signed: [], hindrance: undefined };
  const payable = await withoutContracts(round, await store.waiting(room));
  if (payable.length === 0) return { signed: [], hindrance: undefined };
  if (!(await isNonceFree())) {
    return { signed: [], hindrance: "the node holds a transaction of the wallet that Redis does not know" };
  }

  const costWei = (claim: Claim) => claim.amountWei + wallet.feeMaxWei;
  let availableWei = open
    .filter(({ nonce }) => nonce >= snapshot.nonce)
    .reduce((left, claim) => left - costWei(claim), snapshot.balanceWei);
  const prepared: SignedClaim[] = [];
  let shortOfFunds = false;
  for (const claim of payable) {
    availableWei -= costWei(claim);
    shortOfFunds = availableWei < 0n;
    if (shortOfFunds) break;
    const nonce = firstNonce + prepared.length;
    const { id, address, amountWei } = claim;
    prepared.push({
      ...claim,
      ...(await wallet.sign({ claimId: id, address, amountWei, nonce })),
      nonce,
      status: "signed",
    });
  }

  if (prepared.length > 0) await atPoint("before sign");
  // One connection carries them in order, and each checks that the nonce before it was taken: so the first that is not
  // stored stops all behind it.
  const stored = await Promise.all(prepared.map((claim) => store.sign(fence, claim)));
  if (prepared.length > 0) await atPoint("after sign");
  return {
    signed: prepared.filter((_, index) => stored[index]),
    hindrance: shortOfFunds ? "the wallet's funds do not suffice for the claims that wait" : undefined,
  };
}

/** Ends the claims for contracts, if that was not known when they were made. */
async function withoutContracts(round: Round, waiting: readonly Claim[]): Promise<Claim[]> {
  const unchecked = waiting.filter(({ recipientChecked }) => !recipientChecked);
  if (unchecked.length === 0) return [...waiting];
  const contracts = await round.chain.contracts(unchecked.map(({ address }) => address));
  const refused = unchecked.filter(({ address }) => contracts.has(address));
  for (const claim of refused) {
    if (await round.store.refuse(round.fence, claim, { reason: "The address is a contract" })) {
      round.metrics.ended.inc({ status: "refused" });
      round.logger.info({ claim: claim.id }, "claim refused: the address is a contract");
    }
  }
  return waiting.filter((claim) => !refused.includes(claim));
}
