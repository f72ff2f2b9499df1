import type { FeeSource } from "./fee-sources.ts";

/**
 * Keys that everybody knows: accounts of the public mnemonic "test test test test test test test test test test test
 * junk" (m/44'/60'/0'/0/n). None is the faucet's (9). The production profile refuses them all.
 */

/** Account 8, which has tokens on the dev chain. */
export const developmentOwner = {
  address: "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
  privateKey: "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
} as const;

/** Account 10, which has nothing to begin with. */
export const developmentTreasury = "0xBcd4042DE499D14e55001CcbB24a551F3b954096";

/** Accounts 11 to 17. A signer sends nothing, so it needs no tokens. */
export const developmentSigners = {
  svc_dev: {
    address: "0x71bE63f3384f5fb98995898A86B02Fb2426c5788",
    privateKey: "0x701b615bbdfb9de65240bc28bd21bbc0d996645a3dd57e7b12bc2bdf6f192c82",
  },
  payments: {
    address: "0xFABB0ac9d68B0B445fB7357272Ff202C5651694a",
    privateKey: "0xa267530f49f8280200edf313ee7af6b827f2a8bce2897751d06a843f644967b1",
  },
  identity: {
    address: "0x1CBd3b2770909D4e10f157cABC84C7264073C9Ec",
    privateKey: "0x47c99abed3324a2707c28affff1267e45918ec8c3f20b8aa892e8b065d2942dd",
  },
  ppob: {
    address: "0xdF3e18d64BC6A983f673Ab319CCaE4f1a57C7097",
    privateKey: "0xc526ee95bf44d8fc405a158bb884d9d1238d99f0612e9f33d006bb0789009aaa",
  },
  works: {
    address: "0xcd3B766CCDd6AE721141F452C550Ca635964ce71",
    privateKey: "0x8166f546bab6da521a8369cab06c5d2b9e46670292d85c875ee9ec20e84ffb61",
  },
  bridge: {
    address: "0x2546BcD3c84621e976D8185a91A922aE77ECEc30",
    privateKey: "0xea6c44ac03bff858b476bba40716402b03e41b8e97e276d1baec7c37d42484a0",
  },
  tournaments: {
    address: "0xbDA5747bFD65F08deb54cb465eB87D40e51B197E",
    privateKey: "0x689af8efa8c651a91ad287602527f3af2fe9f6501a7ac4b061667b5a93e037fd",
  },
} as const satisfies Readonly<Record<FeeSource, { address: string; privateKey: string }>>;
