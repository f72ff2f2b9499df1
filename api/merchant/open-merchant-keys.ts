import { SigningKey } from "ethers/crypto";
import { computeAddress } from "ethers/transaction";
import { openKeystore } from "../../lib/chain/open-keystore.ts";
import { developmentSigners } from "../../lib/fee-collector/development-keys.ts";
import type { FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import type { InvoicesConfig } from "./invoices/invoices-config.ts";
import type { OrderSignerSource } from "./order-signer.ts";
import { developmentSealingKey, readSealingKeys } from "./secrets/read-sealing-keys.ts";
import { createSealer, type Sealer } from "./secrets/sealer.ts";
import type { SvcDevConfig } from "./svc-dev-config.ts";

/** What selling keys takes, and what invoices are signed with; undefined where none are made. */
export type MerchantKeys = {
  feeCollector: string;
  signingKey: SigningKey;
  invoiceSigningKey: SigningKey | undefined;
  sealer: Sealer;
};

/**
 * Opens what signs orders and what secrets are kept under; undefined where nothing is sold here.
 * @throws Error that names the file, where one cannot be used; or the signer, where it is none of the contract's.
 */
export async function openMerchantKeys({
  svcDev,
  invoices,
  fees,
  profile,
}: {
  svcDev: Pick<SvcDevConfig, "orderSigner" | "sealingKeyFile">;
  invoices: Pick<InvoicesConfig, "orderSigner">;
  fees: Pick<FeeSettings, "feeCollector" | "signers"> | undefined;
  profile: "development" | "production";
}): Promise<MerchantKeys | undefined> {
  const { orderSigner, sealingKeyFile } = svcDev;
  if (fees === undefined || orderSigner.kind === "none") return undefined;
  const keys = sealingKeyFile === "" ? ([developmentSealingKey] as const) : readSealingKeys(sealingKeyFile);
  if (profile === "production" && keys.some((key) => key.equals(developmentSealingKey))) {
    throw new Error(
      `${sealingKeyFile}: the production profile does not take the development key: everybody has it`,
    );
  }
  return {
    feeCollector: fees.feeCollector,
    signingKey: await openSigner({ from: orderSigner, source: "svc_dev", key: "svcDev.orderSigner", fees }),
    invoiceSigningKey:
      invoices.orderSigner.kind === "none"
        ? undefined
        : await openSigner({
            ...{ from: invoices.orderSigner, source: "payments", key: "invoices.orderSigner", fees },
          }),
    sealer: createSealer({ keys }),
  };
}

async function openSigner({
  from,
  source,
  key,
  fees,
}: {
  from: Exclude<OrderSignerSource, { kind: "none" }>;
  source: "svc_dev" | "payments";
  /** Of the configuration, to name it. */
  key: string;
  fees: Pick<FeeSettings, "signers">;
}): Promise<SigningKey> {
  const { privateKey } = from.kind === "development" ? developmentSigners[source] : await openKeystore(from);
  const signingKey = new SigningKey(privateKey);
  const address = computeAddress(signingKey);
  if (!fees.signers[source].includes(address)) {
    throw new Error(
      `orders are signed by ${address} (${key}), which is none of the signers of ${source} in feesFile: nobody could pay them`,
    );
  }
  return signingKey;
}
