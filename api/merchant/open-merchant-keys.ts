import { SigningKey } from "ethers/crypto";
import { computeAddress } from "ethers/transaction";
import { openKeystore } from "../../lib/chain/open-keystore.ts";
import { developmentSigners } from "../../lib/fee-collector/development-keys.ts";
import type { FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { developmentSealingKey, readSealingKeys } from "./secrets/read-sealing-keys.ts";
import { createSealer, type Sealer } from "./secrets/sealer.ts";
import type { OrderSignerSource, SvcDevConfig } from "./svc-dev-config.ts";

/** What selling keys takes. */
export type MerchantKeys = { feeCollector: string; signingKey: SigningKey; sealer: Sealer };

/**
 * Opens what signs orders and what secrets are kept under; undefined where nothing is sold here.
 * @throws Error that names the file, where one cannot be used; or the signer, where it is none of the contract's.
 */
export async function openMerchantKeys({
  svcDev,
  fees,
  profile,
}: {
  svcDev: Pick<SvcDevConfig, "orderSigner" | "sealingKeyFile">;
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
  const signingKey = new SigningKey(await privateKeyOf(orderSigner));
  const address = computeAddress(signingKey);
  if (!fees.signers.svc_dev.includes(address)) {
    throw new Error(
      `orders are signed by ${address} (svcDev.orderSigner), which is none of the signers of svc_dev in feesFile: nobody could pay them`,
    );
  }
  return { feeCollector: fees.feeCollector, signingKey, sealer: createSealer({ keys }) };
}

async function privateKeyOf(source: Exclude<OrderSignerSource, { kind: "none" }>): Promise<string> {
  return source.kind === "development"
    ? developmentSigners.svc_dev.privateKey
    : (await openKeystore(source)).privateKey;
}
