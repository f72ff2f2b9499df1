import { create2Factory } from "../lib/fee-collector/fee-addresses.ts";

/**
 * The deterministic-deployment proxy (Arachnid's): contracts made through it have the same address on every chain. It
 * is deployed by a transaction that is signed once for all chains, without a chain ID; Besu takes it, but at a base fee of
 * zero nobody should have to fund its sender, so the genesis block holds it.
 */
export const deterministicDeployer = {
  address: create2Factory,
  code: "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3",
} as const;
