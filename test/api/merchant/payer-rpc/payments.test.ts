import { createHash } from "node:crypto";
import { SigningKey, Transaction, type Wallet } from "ethers";
import t, { type Test } from "tap";
import { findInvoiceOrder } from "../../../../api/merchant/invoices/collect-orders.ts";
import { idOf } from "../../../../api/merchant/public-id.ts";
import { feeCollectorInterface } from "../../../../lib/fee-collector/artifacts.ts";
import { collectCall, payCall } from "../../../../lib/fee-collector/fee-calls.ts";
import { developmentFeeSettings } from "../../../../lib/fee-collector/fee-settings.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { aliceWallet, signIn } from "../support/sign-in.ts";
import { orderKey } from "../support/start-shop.ts";
import { type RpcReply, sign, startPayerRpc } from "./support/start-payer-rpc.ts";

/* Which transactions are sent: payments that are waited for. Every other one ends here. */

const rig = await startPayerRpc(t, {
  change: (config) => ({ ...config, payerRpc: { ...config.payerRpc, transactionsPerMinute: 10_000 } }),
});
const { anvil, call, db } = rig;
const { feeCollector } = developmentFeeSettings;
const sendRaw = (raw: string) => call("eth_sendRawTransaction", [raw]);
const sent = async (wallet: Wallet) =>
  Number(await anvil.rpc("eth_getTransactionCount", [wallet.address, "pending"]));

function isRefused(t: Test, { status, error }: RpcReply, message: RegExp, code = -32600) {
  t.equal(status, 200);
  t.match(error, { code, message });
}

t.test("pay with an open order and a transfer to a box are sent, as each type of transaction", async (t) => {
  for (const type of [0, 1, 2]) {
    const gas =
      type === 2
        ? {}
        : { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: 3_000_000_000n };
    for (const way of ["pay", "transfer"] as const) {
      const invoice = await rig.invoice();
      const raw = await sign(await rig.payer(), invoice[way], { type, ...gas });
      const { result } = await sendRaw(raw);
      t.equal(result, Transaction.from(raw).hash);
      await rig.becomes(invoice.id, "paid");
    }
  }
});

t.test("an order of an API key is paid here too", async (t) => {
  const { bearer } = await signIn(rig.api, aliceWallet);
  const { transaction } = await orderKey(rig.api, bearer);
  if (transaction === null) throw new Error("the order has no transaction");
  const { to, data, value } = transaction;
  const wallet = await rig.payer();
  t.match((await sendRaw(await sign(wallet, { to, data, value: BigInt(value) }))).result, /^0x[0-9a-f]{64}$/);
  t.equal(await sent(wallet), 1);
});

t.test("the same transaction again pays nothing more", async (t) => {
  const invoice = await rig.invoice();
  const wallet = await rig.payer();
  const raw = await sign(wallet, invoice.transfer);
  const answers = await Promise.all(Array.from({ length: 10 }, () => sendRaw(raw)));
  t.ok(answers.some(({ result }) => result === Transaction.from(raw).hash));
  await rig.becomes(invoice.id, "paid");
  isRefused(t, await sendRaw(raw), /paid already/);
  t.equal(await sent(wallet), 1);
  t.equal((await rig.read(invoice.id)).receivedWei, String(invoice.transfer.value));
});

t.test(
  "of the contract only pay is called, with an order of ours as it was signed and its exact amount",
  async (t) => {
    const wallet = await rig.payer();
    const invoice = await rig.invoice();
    const order = await findInvoiceOrder(db, idOf("inv").parse(invoice.id));
    if (order === undefined) throw new Error("there is no order");
    const { pay } = invoice;
    const at = (from: number, digits: string) =>
      pay.data.slice(0, from) + digits + pay.data.slice(from + digits.length);
    const someRef = createHash("sha256").update("nobody's").digest("hex");
    const encode = (name: string, values: unknown[]) =>
      feeCollectorInterface.encodeFunctionData(name, values);
    const cases: [what: string, change: { data?: string; value?: bigint }, why: RegExp][] = [
      ["another function", { data: collectCall(order) }, /only pay is called/],
      ["the owner's", { data: encode("setTreasury", [wallet.address]) }, /only pay is called/],
      [
        "the signers'",
        { data: encode("setSigner", [`0x${"00".repeat(32)}`, wallet.address, true]) },
        /only pay/,
      ],
      ["a withdrawal", { data: encode("withdraw", [wallet.address]) }, /only pay is called/],
      ["no data", { data: "0x" }, /only pay is called/],
      ["half a selector", { data: pay.data.slice(0, 8) }, /only pay is called/],
      ["pay alone", { data: pay.data.slice(0, 10) }, /only pay is called/],
      ["an order of nobody", { data: at(10, someRef) }, /none of this site's/],
      ["half an order", { data: pay.data.slice(0, 200) }, /was changed/],
      ["more behind it", { data: `${pay.data}00` }, /was changed/],
      ["another payee", { data: at(10 + 2 * 64 + 24, wallet.address.slice(2).toLowerCase()) }, /was changed/],
      [
        "another signature",
        { data: payCall({ ...order, signature: `0x${"1b".repeat(65)}` }) },
        /was changed/,
      ],
      ["a wei less", { value: pay.value - 1n }, /takes exactly \d+ wei/],
      ["a wei more", { value: pay.value + 1n }, /takes exactly \d+ wei/],
      ["nothing", { value: 0n }, /without value pays nothing/],
    ];
    for (const [what, change, why] of cases) {
      await t.test(what, async (t) =>
        isRefused(t, await sendRaw(await sign(wallet, { ...pay, ...change })), why),
      );
    }
    t.equal(await sent(wallet), 0);
    t.equal((await rig.read(invoice.id)).state, "open");
  },
);

t.test("nothing goes to anybody else, and no contract is made", async (t) => {
  const wallet = await rig.payer();
  const { transfer } = await rig.invoice();
  isRefused(
    t,
    await sendRaw(await sign(wallet, { ...transfer, to: wallet.address })),
    /^The receiver is no deposit/,
  );
  isRefused(t, await sendRaw(await sign(wallet, { ...transfer, to: null })), /makes a contract/);
  isRefused(t, await sendRaw(await sign(wallet, { ...transfer, data: "0x01" })), /without data/);
  isRefused(t, await sendRaw(await sign(wallet, { ...transfer, value: 0n })), /pays nothing/);
  t.equal(await sent(wallet), 0);
});

t.test("transactions that no payment needs are not sent", async (t) => {
  const wallet = await rig.payer();
  const { transfer, pay } = await rig.invoice();
  const blob = { type: 3, maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${"00".repeat(31)}`] };
  isRefused(t, await sendRaw(await sign(wallet, transfer, blob)), /legacy ones and types 1 and 2/);
  const code = await wallet.authorize({ address: feeCollector, nonce: 1, chainId: 8845 });
  const setCode = await sign(wallet, transfer, { type: 4, authorizationList: [code] });
  isRefused(t, await sendRaw(setCode), /legacy ones and types 1 and 2/);
  isRefused(t, await sendRaw(await sign(wallet, pay, { gasLimit: 400_001n })), /at most 400000 gas/, -32602);
  isRefused(t, await sendRaw(await sign(wallet, pay, { chainId: 1 })), /wallet is on another one/, -32602);
  const unprotected = Transaction.from({ ...transfer, type: 0, gasLimit: 30_000n, gasPrice: 1n, nonce: 0 });
  unprotected.signature = new SigningKey(wallet.privateKey).sign(unprotected.unsignedHash);
  isRefused(t, await sendRaw(unprotected.serialized), /another one/, -32602);
  const accessList = [{ address: feeCollector, storageKeys: Array(70).fill(`0x${"00".repeat(32)}`) }];
  isRefused(t, await sendRaw(await sign(wallet, pay, { accessList })), /at most 2048 bytes/, -32602);
  const raw = await sign(wallet, transfer);
  isRefused(t, await sendRaw(Transaction.from(raw).unsignedSerialized), /not signed/, -32602);
  isRefused(t, await sendRaw(raw.slice(0, -2)), /no transaction that can be read/, -32602);
  isRefused(t, await sendRaw("0x02c0"), /no transaction that can be read/, -32602);
  isRefused(t, await sendRaw(`0xc1${"00".repeat(500)}`), /no transaction that can be read/, -32602);
  isRefused(t, await sendRaw(withHighS(raw)), /no transaction that can be read/, -32602);
  t.equal(await sent(wallet), 0);
});

t.test("who is about to pay twice, or what nobody waits for, is told instead", async (t) => {
  const wallet = await rig.payer();
  const refuses = async (
    invoice: Awaited<ReturnType<typeof rig.invoice>>,
    way: "pay" | "transfer",
    why: RegExp,
  ) => {
    isRefused(t, await sendRaw(await sign(wallet, invoice[way])), why);
    const { to, value, data } = invoice[way];
    const estimate = { from: wallet.address, to, value: `0x${value.toString(16)}`, data };
    isRefused(t, await call("eth_estimateGas", [estimate]), why);
  };

  const paid = await rig.invoice();
  await sendRaw(await sign(await rig.payer(), paid.pay));
  await rig.becomes(paid.id, "paid");
  await refuses(paid, "pay", /paid already/);
  await refuses(paid, "transfer", /paid already/);

  const canceled = await rig.invoice();
  await rig.cancel(canceled.id);
  await refuses(canceled, "pay", /merchant has cancelled this invoice; do not pay/);
  await refuses(canceled, "transfer", /merchant has cancelled/);

  const begun = await rig.invoice();
  const half = begun.transfer.value / 2n;
  await sendRaw(await sign(await rig.payer(), { ...begun.transfer, value: half }));
  await rig.becomes(begun.id, "underpaid");
  await refuses(begun, "pay", new RegExp(`send the rest to its deposit address ${begun.transfer.to}`));
  await sendRaw(await sign(await rig.payer(), { ...begun.transfer, value: begun.transfer.value - half }));
  await rig.becomes(begun.id, "paid");
  t.equal(await sent(wallet), 0);
});

t.test("late money is taken while its box is watched, and not after", async (t) => {
  const late = await rig.invoice({ amountIdr: 150_000, expiresInMinutes: 5 });
  const never = await rig.invoice({ amountIdr: 150_000, expiresInMinutes: 5 });
  await anvil.rpc("evm_increaseTime", ["0x258"]);
  await anvil.rpc("evm_mine");
  await rig.becomes(late.id, "expired");
  const wallet = await rig.payer();
  isRefused(t, await sendRaw(await sign(wallet, late.pay)), /time to pay this order is over/);
  t.match((await sendRaw(await sign(wallet, late.transfer))).result, /^0x/);
  await rig.becomes(late.id, "paid_late");
  await anvil.rpc("evm_increaseTime", ["0x15180"]);
  await anvil.rpc("evm_mine");
  await anvil.rpc("evm_mine");
  const other = await rig.payer();
  const raw = await sign(other, never.transfer);
  // Gas is estimated until then, and nothing sent.
  const { to, value } = never.transfer;
  const estimate = { from: other.address, to, value: `0x${value.toString(16)}` };
  await waitFor("the watch is over", async () =>
    /not watched any more/.test((await call("eth_estimateGas", [estimate])).error?.message ?? ""),
  );
  isRefused(t, await sendRaw(raw), /not watched any more, so nobody would see the money/);
  t.equal(await sent(other), 0);
});

/** The other signature of the same words (EIP-2). */
function withHighS(raw: string): string {
  const { signature } = Transaction.from(raw);
  if (signature === null) throw new Error("the transaction is not signed");
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const other = (order - BigInt(signature.s)).toString(16).padStart(64, "0");
  return raw.replace(signature.s.slice(2), other);
}
