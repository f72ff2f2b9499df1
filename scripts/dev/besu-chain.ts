import { readNetworkConfig } from "../../genesis/config.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { findBesu } from "../network/native/find-besu.ts";
import { besuService } from "./besu-service.ts";
import type { Service } from "./service.ts";

/** Validators of Besu, on the chain that the gateway is configured for. */
export async function besuChain({
  file,
  chainId,
}: {
  file: string;
  chainId: number;
}): Promise<Service | { refused: string }> {
  const besu = await findBesu(process.env);
  if ("failed" in besu) return { refused: `npm start -- --besu: ${besu.failed}\n` };
  try {
    const overrides = { profile: "development", chainId };
    return besuService({ config: readNetworkConfig({ file, env: process.env, overrides }) });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { refused: `The network's configuration cannot be used:\n  ${error.problems.join("\n  ")}\n` };
  }
}
