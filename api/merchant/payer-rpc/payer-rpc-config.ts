import { z } from "zod";
import { bounded } from "../../../lib/config/schemas.ts";

/** `payerRpc` of the api's configuration. */
export const payerRpcSchema = z
  .strictObject({
    /** Empty: as the profile has it, on in development and off in production. */
    enabled: z.union([z.boolean(), z.literal("")], "true, false or nothing was expected").default(""),
    callsPerMinute: bounded(1_000_000).default(600),
    transactionsPerMinute: bounded(1_000_000).default(30),
    sharedCallsPerMinute: bounded(10_000_000).default(60_000),
    sharedTransactionsPerMinute: bounded(1_000_000).default(600),
    inFlightMax: bounded(10_000).default(256),
    inFlightPerClientMax: bounded(1000).default(32),
    batchItemsMax: bounded(100).default(20),
    timeoutMs: bounded(60_000).default(8000),
  })
  .prefault({});

export type PayerRpcConfig = z.output<typeof payerRpcSchema>;

/** Its path below `publicUrl`. */
export const payerRpcPath = "/rpc";

/** Whether wallets are served without a key: where the configuration or the profile says so, and there is something to pay to. */
export function isPayerRpcEnabled({
  profile,
  payerRpc: { enabled },
  fees,
}: {
  profile: "development" | "production";
  payerRpc: Pick<PayerRpcConfig, "enabled">;
  fees: object | undefined;
}): boolean {
  if (fees === undefined) return false;
  return enabled === "" ? profile === "development" : enabled;
}

/** The address that a customer's wallet is told of as the network's (EIP-3085 `rpcUrls`); undefined where it is off. */
export function payerRpcUrlOf(
  config: Parameters<typeof isPayerRpcEnabled>[0] & { publicUrl: string },
): string | undefined {
  if (!isPayerRpcEnabled(config)) return undefined;
  return `${config.publicUrl.replace(/\/+$/, "")}${payerRpcPath}`;
}
