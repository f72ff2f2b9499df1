import { HDNodeWallet } from "ethers";

/** Public development accounts: the network is of the development profile. */
const phrase = "test test test test test test test test test test test junk";

/** Sends transactions. */
export const funded = HDNodeWallet.fromPhrase(phrase, undefined, "m/44'/60'/0'/0/4");
/** Stands on the faucet's allowlist. */
export const claimant = HDNodeWallet.fromPhrase(phrase, undefined, "m/44'/60'/0'/0/1");
