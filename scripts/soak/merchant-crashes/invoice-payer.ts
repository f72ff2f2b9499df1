import type { Shop, ShopInvoice } from "./shop.ts";

/** How an invoice is paid: right, wrong, late, doubled, in parts, by contract wallets, after it was canceled. */
export const paymentWays = [
  "contract",
  "contract twice",
  "contract, wrong amount",
  "contract, late",
  "box",
  "box twice",
  "box, late",
  "box, passed on",
  "parts, passed on between",
  "too little",
  "too much",
  "contract wallet",
  "contract wallet, late",
  "box, then contract",
  "part, rest late",
  "canceled, then contract",
  "canceled, then box",
  "canceled",
  "nothing",
] as const;
export type PaymentWay = (typeof paymentWays)[number];

export type PaidInvoice = { way: PaymentWay; shop: ShopInvoice };

const amount = 10n ** 19n;
/** Longer than the chain's time is moved ahead for those that end meanwhile. */
const validSeconds = 3600;
const endsSoonSeconds = 600;

/** Makes an invoice and pays it in one of the ways. `now` is the newest block's time. */
export async function payInvoice({
  way,
  shop,
  now,
  passTime,
  wallet,
  retry,
}: {
  way: PaymentWay;
  shop: Shop;
  now: () => Promise<number>;
  /** Moves the chain's time ahead. */
  passTime: (seconds: number) => Promise<void>;
  /** The merchant's. */
  wallet: Buffer;
  /** Until the database answers. */
  retry: <Value>(work: () => Promise<Value>) => Promise<Value>;
}): Promise<PaidInvoice> {
  const isLate = way.endsWith(", late");
  // One that ended before it was made: each payment of it is late, by its block's time.
  const endsSoon = way === "part, rest late";
  const expiresAt = (await now()) + (endsSoon ? endsSoonSeconds : isLate ? -1 : validSeconds);
  const watchUntil = expiresAt + 2 * validSeconds;
  const fee = amount / 100n;
  const invoice = await retry(() => shop.invoice({ amount, fee, expiresAt, watchUntil, wallet }));
  if (way.startsWith("canceled")) await retry(() => shop.cancel(invoice));
  await stepsOf[way](shop, invoice, { passTime });
  return { way, shop: invoice };
}

type Time = { passTime: (seconds: number) => Promise<void> };
const stepsOf: Record<PaymentWay, (shop: Shop, invoice: ShopInvoice, time: Time) => Promise<unknown>> = {
  contract: (shop, invoice) => shop.pay(invoice),
  async "contract twice"(shop, invoice) {
    await Promise.all([shop.pay(invoice), shop.pay(invoice, { payer: 1 })]);
  },
  "contract, wrong amount": (shop, invoice) => shop.pay(invoice, { value: amount - 1n }),
  "contract, late": (shop, invoice) => shop.pay(invoice),
  box: (shop, invoice) => shop.transfer(invoice, amount),
  async "box twice"(shop, invoice) {
    await Promise.all([shop.transfer(invoice, amount), shop.transfer(invoice, amount, { payer: 1 })]);
  },
  "box, late": (shop, invoice) => shop.transfer(invoice, amount),
  async "box, passed on"(shop, invoice) {
    await shop.transfer(invoice, amount);
    await shop.collect(invoice);
  },
  async "parts, passed on between"(shop, invoice) {
    await shop.transfer(invoice, amount / 4n);
    await shop.collect(invoice);
    await shop.transferByContract(invoice, amount / 4n);
    await shop.collect(invoice);
    await shop.transfer(invoice, amount / 2n, { payer: 1 });
  },
  "too little": (shop, invoice) => shop.transfer(invoice, amount - 1n),
  "too much": (shop, invoice) => shop.transfer(invoice, amount + 1n),
  "contract wallet": (shop, invoice) => shop.transferByContract(invoice, amount),
  "contract wallet, late": (shop, invoice) => shop.transferByContract(invoice, amount),
  async "box, then contract"(shop, invoice) {
    await shop.transfer(invoice, 1n);
    await shop.pay(invoice);
  },
  async "part, rest late"(shop, invoice, { passTime }) {
    await shop.transfer(invoice, amount / 4n);
    await passTime(endsSoonSeconds + 1);
    await shop.transfer(invoice, (amount * 3n) / 4n);
  },
  "canceled, then contract": (shop, invoice) => shop.pay(invoice),
  "canceled, then box": (shop, invoice) => shop.transfer(invoice, amount),
  canceled: async () => {},
  nothing: async () => {},
};

/** What an invoice must have come to in the end: what had arrived, in time, and its state. */
export const outcomes: Record<PaymentWay, { received: bigint; inTime: bigint; state: string }> = {
  contract: all("paid"),
  "contract twice": all("paid"),
  "contract, wrong amount": none("open"),
  "contract, late": none("expired"),
  box: all("paid"),
  "box twice": { received: 2n * amount, inTime: 2n * amount, state: "overpaid" },
  "box, late": { received: amount, inTime: 0n, state: "paid_late" },
  "box, passed on": all("paid"),
  "parts, passed on between": all("paid"),
  "too little": { received: amount - 1n, inTime: amount - 1n, state: "underpaid" },
  "too much": { received: amount + 1n, inTime: amount + 1n, state: "overpaid" },
  "contract wallet": all("paid"),
  "contract wallet, late": { received: amount, inTime: 0n, state: "paid_late" },
  "box, then contract": { received: 1n, inTime: 1n, state: "underpaid" },
  "part, rest late": { received: amount, inTime: amount / 4n, state: "paid_late" },
  "canceled, then contract": all("paid_late"),
  "canceled, then box": all("paid_late"),
  canceled: none("canceled"),
  nothing: none("open"),
};

function all(state: string) {
  return { received: amount, inTime: amount, state };
}

function none(state: string) {
  return { received: 0n, inTime: 0n, state };
}
