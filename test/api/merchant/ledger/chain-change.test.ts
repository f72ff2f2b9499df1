import t from "tap";
import { z } from "zod";
import { developmentFeeSettings } from "../../../../lib/fee-collector/fee-settings.ts";
import { createShop } from "../../../../scripts/soak/merchant-crashes/shop.ts";
import { sealedBlocks } from "../../../fakes/sealed-chain.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startLyingNode } from "../support/lying-node.ts";
import { startFeeChain, startMarket } from "../support/market.ts";

const { feeCollector } = developmentFeeSettings;
const ether = 10n ** 18n;
const payments = "select order_id, received_after::text, block_number::int from svc.payments order by id";

t.test("before the FeeCollector is there nothing begins, and no order can be made", async (t) => {
  const chain = await startFeeChain(t);
  const elsewhere = `0x${"ab".repeat(20)}`;
  const market = await startMarket(t, { chain });
  const ledger = market.start({ feeCollector: elsewhere, isDevelopment: true });
  await waitFor("it says what it waits for", () => ledger.standing().waitsFor !== undefined);
  t.match(ledger.problem(), /no FeeCollector at 0xabab.*contracts -- deploy/);
  t.match(ledger.logLines.join(""), /no payments are followed yet/);
  t.equal(ledger.standing().refused, undefined);
  t.equal(market.ledger.problem(), undefined);
  await chain.rpc("anvil_setCode", [elsewhere, "0x00"]);
  await market.ledger.stop();
  await waitFor("it goes on by itself", () => ledger.problem() === undefined);
  t.equal(ledger.standing().epoch, 2);
});

t.test(
  "in production another chain stops the ledger until it is told to adopt it; payments stay",
  async (t) => {
    const [chain, second, third] = await Promise.all([startFeeChain(t), startFeeChain(t), startFeeChain(t)]);
    await second.mineAt((await second.time()) + 5);
    const node = await startLyingNode(t, { upstream: chain.url });
    const market = await startMarket(t, { chain, url: node.url, isDevelopment: false });
    const order = await market.shop.keyOrder({ validUntil: (await chain.time()) + 90_000 });
    await market.shop.pay(order);
    await market.settled();
    const before = await market.rows(payments);
    t.equal(before.length, 1);

    node.moveTo(second.url);
    const shop = createShop({ db: market.pool, rpc: second.rpc, feeCollector });
    // As many blocks as the first chain, and more.
    await second.mine(10);
    await waitFor("it refuses", () => market.ledger.standing().refused !== undefined);
    t.match(market.ledger.problem(), /genesis|block/);
    t.match(await market.ledger.registry.metrics(), /^api_ledger_refused 1$/m);
    t.match(market.ledger.logLines.join(""), /--adopt-chain/);
    t.strictSame(await market.rows(payments), before);
    await market.ledger.stop();

    const told = market.start({ adoptChain: true });
    await waitFor("it begins an epoch", () => told.standing().epoch === 2);
    t.equal(told.problem(), undefined);
    t.strictSame(await market.rows(payments), before, "what was booked stays");
    t.match(await market.rows("select epoch from svc.chain_epochs order by epoch"), [
      { epoch: 1 },
      { epoch: 2 },
    ]);
    // An order of the chain before, signed for the same contract and the same chain ID: here nobody has paid it yet.
    t.ok(await second.succeeded(await shop.pay(order)));
    const fresh = await shop.keyOrder({ validUntil: (await second.time()) + 1800 });
    await shop.pay(fresh);
    await told.booked(await second.number());
    t.match(await market.rows("select order_id from svc.payments order by id"), [
      { order_id: order.orderId },
      { order_id: fresh.orderId },
    ]);
    t.match(await told.registry.metrics(), /^api_ledger_refused_events_total\{reason="unknown"\} 1$/m);

    // The word counted for one chain.
    await third.mine(50);
    node.moveTo(third.url);
    await waitFor("it refuses the next", () => told.standing().refused !== undefined);
  },
);

t.test("on a dev chain that was taken back the ledger begins an epoch by itself", async (t) => {
  const chain = await startFeeChain(t);
  const market = await startMarket(t, { chain });
  const snapshot = await chain.rpc("evm_snapshot");
  const invoice = await market.shop.invoice({ expiresAt: (await chain.time()) + 1800 });
  await market.shop.transfer(invoice, 10n * ether);
  await market.settled();
  await chain.rpc("evm_revert", [snapshot]);
  await waitFor("it begins an epoch", () => (market.ledger.standing().epoch ?? 0) >= 2);
  t.equal((await market.rows(payments)).length, 1);
  const next = await market.shop.keyOrder({ validUntil: (await chain.time()) + 1800 });
  await market.shop.pay(next);
  await market.settled();
  t.equal((await market.rows(payments)).length, 2);
});

t.test("another FeeCollector in the configuration is another epoch", async (t) => {
  const chain = await startFeeChain(t);
  const market = await startMarket(t, { chain, isDevelopment: false });
  await market.ledger.stop();
  const otherCollector = `0x${"ab".repeat(20)}`;
  await chain.rpc("anvil_setCode", [otherCollector, "0x00"]);
  const other = market.start({ feeCollector: otherCollector });
  await waitFor("it refuses", () => other.standing().refused !== undefined);
  t.match(other.problem(), /configuration's FeeCollector is 0xabab/);
  await other.stop();
  const told = market.start({ feeCollector: otherCollector, adoptChain: true });
  await waitFor("it begins an epoch", () => told.standing().epoch === 2);
  t.equal(told.problem(), undefined);
});

t.test(
  "a validator that is behind the ledger is waited for; a dev chain that is lower was taken back",
  async (t) => {
    const chain = await startFeeChain(t);
    const node = await startLyingNode(t, { upstream: chain.url });
    const market = await startMarket(t, { chain, url: node.url, isDevelopment: false });
    const snapshot = await chain.rpc("evm_snapshot");
    await chain.mine(5);
    await market.settled();
    const [sealed] = sealedBlocks([{ proposer: 0, round: 0, sealedBy: [0, 1, 2, 3] }]);
    const header = z.looseObject({});
    node.tell(({ method, result }) =>
      method === "eth_getBlockByNumber" && result !== null
        ? { ...header.parse(result), extraData: sealed?.json["extraData"] }
        : result,
    );
    await chain.rpc("evm_revert", [snapshot]);
    const ledger = market.start();
    await ledger.begun();
    t.equal(ledger.standing().behindBlocks, 0);
    t.equal(ledger.problem(), undefined);
    node.tell(undefined);
    await waitFor("it refuses", () => ledger.standing().refused !== undefined);
    t.match(ledger.problem(), /the chain ends at block/);
  },
);
