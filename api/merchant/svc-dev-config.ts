import { resolve } from "node:path";
import { z } from "zod";
import { bounded, commaList } from "../../lib/config/schemas.ts";
import { tokenAmount } from "../../lib/config/token-amount.ts";
import { orderAmountWeiMax } from "../../lib/fee-collector/fee-order.ts";
import { keystoreSettings, type OrderSignerSource, orderSignerOf } from "./order-signer.ts";
import { byPackage } from "./packages.ts";

/** In whole tokens, as the interface was published. */
const prices = { monthly: "100", quarterly: "270", yearly: "900" };

const price = tokenAmount.refine(
  (wei) => wei <= orderAmountWeiMax,
  "an amount below 79 thousand million tokens was expected",
);

/** `svcDev` of the api's configuration. */
export const svcDevSchema = z
  .strictObject({
    packages: z.strictObject(byPackage((name) => price.prefault(prices[name]))).prefault({}),
    webhookPrice: price.prefault("1"),
    webhooks: z
      .strictObject({
        allowLoopback: z.boolean().default(true),
        testsPerMinute: bounded(1000).default(10),
        dnsServers: commaList(
          z.string().regex(/^[0-9a-fA-F:.[\]]+$/, "an address, with or without a port, was expected"),
          4,
        ).default([]),
      })
      .prefault({}),
    events: z
      .strictObject({
        clientsMax: bounded(10_000).default(500),
        perAddressMax: bounded(1000).default(20),
        perWalletMax: bounded(1000).default(5),
      })
      .prefault({}),
    orderSeconds: bounded(86_400, 60).default(1800),
    openOrdersMax: bounded(1000).default(20),
    activeKeysMax: bounded(1000).default(5),
    secretAgainSeconds: bounded(3600).default(900),
    orderSigner: keystoreSettings,
    sealingKeyFile: z.string().default(""),
  })
  .prefault({});

type Given = z.output<typeof svcDevSchema>;

export type SvcDevConfig = Omit<Given, "orderSigner"> & { orderSigner: OrderSignerSource };

/** Why it cannot be used in production, where what everybody knows protects nothing. */
export function svcDevProblem({
  profile,
  svcDev,
}: {
  profile: string;
  svcDev: Given;
}): { path: string[]; message: string } | undefined {
  if (profile !== "production" || svcDev.orderSigner.keystoreFile === "" || svcDev.sealingKeyFile !== "")
    return undefined;
  return {
    path: ["svcDev", "sealingKeyFile"],
    message:
      "a file with a key was expected, since the production profile sells keys here (openssl rand -hex 32)",
  };
}

/** Its paths count from the file's folder. */
export function svcDevConfigOf({
  svcDev,
  profile,
  folder,
}: {
  svcDev: Given;
  profile: "development" | "production";
  folder: string;
}): SvcDevConfig {
  const { sealingKeyFile } = svcDev;
  return {
    ...svcDev,
    sealingKeyFile: sealingKeyFile === "" ? "" : resolve(folder, sealingKeyFile),
    orderSigner: orderSignerOf({ given: svcDev.orderSigner, profile, folder }),
  };
}
