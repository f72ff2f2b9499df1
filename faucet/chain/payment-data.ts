/** "tgfc": marks a payment of the faucet among all transactions of the wallet. */
const tag = "0x74676663";

/** The data of a claim's transaction: the tag and the claim's id, 20 bytes. */
export function paymentData(claimId: string): string {
  return tag + claimId;
}

/** The claim that a transaction pays; undefined for any other transaction. */
export function claimIdOf(data: string): string | undefined {
  return new RegExp(`^${tag}([0-9a-f]{32})$`).exec(data.toLowerCase())?.[1];
}
