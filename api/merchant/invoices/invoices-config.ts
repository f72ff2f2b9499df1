import { resolve } from "node:path";
import { z } from "zod";
import { bounded } from "../../../lib/config/schemas.ts";
import { keystoreSettings, type OrderSignerSource, orderSignerOf } from "../order-signer.ts";
import { decimalPattern } from "./price.ts";

const rateExpected =
  'a decimal text from "0.1" up to twelve digits, with at most twelve decimals, was expected: "15000"';
/** Below it the dearest invoice would cost more than an order can. */
export const idrPerToken = z
  .string(rateExpected)
  .regex(decimalPattern, rateExpected)
  .refine((text) => Number(text) >= 0.1, rateExpected);

/** `invoices` of the api's configuration. */
export const invoicesSchema = z
  .strictObject({
    feeBasisPoints: bounded(1000, 0).default(0),
    openMax: bounded(100_000).default(1000),
    watchedMax: bounded(100_000).default(2000),
    rates: z
      .strictObject({
        idrPerToken: idrPerToken.default("15000"),
        rateFile: z.string().default(""),
        rateMaxAgeMinutes: bounded(10_080).default(60),
      })
      .prefault({}),
    orderSigner: keystoreSettings,
  })
  .prefault({});

type Given = z.output<typeof invoicesSchema>;

export type InvoicesConfig = Omit<Given, "orderSigner"> & { orderSigner: OrderSignerSource };

/** Its paths count from the file's folder. */
export function invoicesConfigOf({
  invoices,
  profile,
  folder,
}: {
  invoices: Given;
  profile: "development" | "production";
  folder: string;
}): InvoicesConfig {
  const { rateFile } = invoices.rates;
  return {
    ...invoices,
    rates: { ...invoices.rates, rateFile: rateFile === "" ? "" : resolve(folder, rateFile) },
    orderSigner: orderSignerOf({ given: invoices.orderSigner, profile, folder }),
  };
}
