import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import t, { type Test } from "tap";
import { z } from "zod";
import {
  createInvoiceClient,
  type InvoiceClient,
  type MadeInvoice,
} from "../../../../scripts/pages/sites/invoice-client.ts";
import { merchants } from "../../../../scripts/pages/sites/merchant-sites.ts";
import {
  type BrowserWallet,
  createBrowserWallet,
  injectWallets,
} from "../../../fakes/browser-wallet/browser-wallet.ts";
import { startChromium } from "../../../helpers/chromium.ts";
import { recordProblems } from "../../../helpers/page-problems.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startMerchantSite } from "../pages/support/start-merchant-site.ts";

t.setTimeout(300_000);
const browser = await startChromium(t);
const { alice, bob, carol } = merchants;
const token = 10n ** 18n;
/** A browser's clock that is five hours behind. */
const wrongClock = "{ const { now } = Date; Date.now = () => now() - 18000000; }";
const sent = z.object({ to: z.string(), value: z.string().transform(BigInt), data: z.string() });

t.test("payment pages in a browser", { skip: browser === undefined && "there is no chromium" }, async (t) => {
  if (browser === undefined) return;
  const { url, anvil, client } = await startMerchantSite(t);
  const { token: session } = await client.signIn(alice);
  const { secret } = await client.buy(alice, session, { package: "monthly" });
  const shop: InvoiceClient = createInvoiceClient({ url, rpcUrl: anvil.url, key: secret });
  const create = (more: object = {}) => shop.create({ amountIdr: 150_000, ...more });
  const walletOf = ({ privateKey }: { privateKey: string }) =>
    createBrowserWallet({ name: "Amber Wallet", privateKey, rpcUrl: anvil.url });
  const payments = ({ asked }: BrowserWallet) =>
    asked.filter(({ method }) => method === "eth_sendTransaction").map(({ params }) => sent.parse(params[0]));

  async function contextOf(
    t: Test,
    { wallet, ...options }: BrowserContextOptions & { wallet?: BrowserWallet } = {},
  ): Promise<BrowserContext> {
    const context = await browser?.newContext({ locale: "en-GB", ...options });
    if (context === undefined) throw new Error("there is no browser");
    t.teardown(() => context.close());
    if (wallet !== undefined) await injectWallets(context, [wallet]);
    return context;
  }

  async function open(
    context: BrowserContext,
    { payUrl }: Pick<MadeInvoice, "payUrl">,
  ): Promise<{ page: Page; problems: readonly string[] }> {
    const page = await context.newPage();
    const problems = recordProblems(page, { url });
    await page.goto(payUrl);
    return { page, problems };
  }

  const badge = (page: Page, text: string | RegExp) =>
    page.locator("#state .badge", { hasText: text }).waitFor();
  const outcome = (page: Page, text: string) => page.locator("#outcome", { hasText: text }).waitFor();
  const pay = (page: Page) => page.locator("#pay");

  t.test("a wallet that has never heard of the network pays with one prompt, pressed twice", async (t) => {
    const wallet = walletOf(carol);
    const invoice = await create({ redirectUrl: "https://shop.example/thanks?order=7" });
    const { page, problems } = await open(await contextOf(t, { wallet }), invoice);
    await badge(page, "Waiting for your payment");
    await pay(page).dblclick();
    await badge(page, /^Paid$/);
    t.same(
      wallet.asked.map(({ method }) => method).filter((method) => method !== "eth_chainId"),
      [
        ...["eth_requestAccounts", "wallet_switchEthereumChain", "wallet_addEthereumChain"],
        ...["eth_getBalance", "eth_sendTransaction"],
      ],
    );
    t.match(wallet.asked.find(({ method }) => method === "wallet_addEthereumChain")?.params, [
      { chainId: "0x228d", rpcUrls: [`${url}/rpc`], blockExplorerUrls: [url] },
    ]);
    const [payment, ...others] = payments(wallet);
    t.same(others, []);
    t.equal(payment?.value, invoice.amountWei);
    t.ok(payment?.data.startsWith("0x93e10b4d"), "by the contract's pay()");
    t.equal((await shop.read(invoice)).state, "paid");
    t.equal(await pay(page).count(), 0);
    t.equal(await page.locator("[data-uri]").count(), 0, "nobody is asked to pay again");
    t.equal(page.url(), invoice.payUrl, "the payment is booked, and its hash forgotten");

    const back = page.getByRole("link", { name: "Back to shop.example" });
    t.equal(await back.getAttribute("href"), "https://shop.example/thanks?order=7");
    await page.getByRole("link", { name: "Receipt" }).click();
    await page.getByRole("heading", { name: "Receipt" }).waitFor();
    await page.getByText(carol.address).waitFor();
    t.same(problems, []);
  });

  t.test("who declines, is elsewhere or has too little is told so, and nothing is sent", async (t) => {
    const wallet = walletOf(bob);
    const invoice = await create();
    const { page } = await open(await contextOf(t, { wallet }), invoice);
    wallet.declines.add("eth_requestAccounts");
    await pay(page).click();
    await outcome(page, "You declined in the wallet. Nothing was paid.");
    wallet.declines.clear();
    wallet.declines.add("wallet_addEthereumChain");
    await pay(page).click();
    await outcome(page, "You declined in the wallet. Nothing was paid.");
    wallet.declines.clear();
    const { answer } = wallet;
    wallet.answer = async (method, params) =>
      method === "wallet_addEthereumChain" || method === "wallet_switchEthereumChain"
        ? null
        : answer(method, params);
    await pay(page).click();
    await outcome(page, "Your wallet is still in another network.");
    wallet.answer = answer;
    const balance = String(await anvil.rpc("eth_getBalance", [bob.address, "latest"]));
    await anvil.rpc("anvil_setBalance", [bob.address, `0x${token.toString(16)}`]);
    await pay(page).click();
    await outcome(page, "This account has 1 TEST, and this costs 10 TEST.");
    t.equal(
      await page.getByRole("link", { name: "Get test tokens from the faucet" }).getAttribute("href"),
      "https://faucet.example",
    );
    await anvil.rpc("anvil_setBalance", [bob.address, balance]);
    wallet.declines.add("eth_sendTransaction");
    await pay(page).click();
    await outcome(page, "You declined in the wallet. Nothing was paid.");
    t.equal((await shop.read(invoice)).state, "open");
    wallet.declines.clear();
    await pay(page).click();
    await badge(page, /^Paid$/);
  });

  t.test("a part by the code, then the rest by the browser's wallet: the page follows both", async (t) => {
    const wallet = walletOf(carol);
    const invoice = await create();
    const { page, problems } = await open(await contextOf(t, { wallet }), invoice);
    const uri = await page.locator("[data-uri]").getAttribute("data-uri");
    const [, to = "", chainId, value = "0"] =
      /^ethereum:(0x\w{40})@(\d+)\?value=(\d+)$/.exec(uri ?? "") ?? [];
    t.match(
      { to, chainId, value },
      { to: invoice.depositAddress, chainId: "8845", value: String(10n * token) },
    );
    await shop.send(bob, { to, value: BigInt(value) - 4n * token });
    await badge(page, "Rp\u00a060.000 is missing");
    await page.getByText("What has arrived").waitFor();
    await page.getByRole("button", { name: "Pay 4 TEST with a wallet" }).click();
    await badge(page, /^Paid$/);
    t.same(payments(wallet), [{ to: invoice.depositAddress, value: 4n * token, data: "0x" }]);
    t.same(problems, []);
  });

  t.test("what changes while the wallet is open is not paid unseen", async (t) => {
    const wallet = walletOf(carol);
    const invoice = await create();
    const { page } = await open(await contextOf(t, { wallet }), invoice);
    const { answer } = wallet;
    wallet.answer = async (method, params) => {
      if (method === "wallet_addEthereumChain") {
        await shop.send(bob, { to: invoice.depositAddress, value: token });
        await shop.reached(invoice, "underpaid");
      }
      return answer(method, params);
    };
    await pay(page).click();
    // Whether the server's news or the look before the prompt comes first: the amount that was pressed is not sent.
    // Where the news came first, the rest is paid by the same press, and the button soon gone.
    const rest = page.getByRole("button", { name: "Pay 9 TEST with a wallet" });
    await rest.or(page.locator("#state .badge", { hasText: /^Paid$/ })).waitFor();
    await page.locator("#pay[aria-busy=true]").waitFor({ state: "detached" });
    for (const { value } of payments(wallet)) t.equal(value, 9n * token, "if at all, the rest");
    t.not((await shop.read(invoice)).state, "overpaid");
  });

  t.test("two tabs and a reload: one payment, which both follow", async (t) => {
    const wallet = walletOf(carol);
    const invoice = await create();
    const context = await contextOf(t, { wallet });
    const [{ page: first }, { page: second }] = [await open(context, invoice), await open(context, invoice)];
    await first.bringToFront();
    await anvil.rpc("evm_setAutomine", [false]);
    await pay(first).click();
    await badge(first, "Your payment is on its way");
    await badge(second, "Your payment is on its way");
    t.equal(await pay(second).count(), 0, "the other tab asks for nothing");
    await second.goto(invoice.payUrl);
    await badge(second, "Your payment is on its way");
    await first.reload();
    await badge(first, "Your payment is on its way");
    const { page: third } = await open(context, invoice);
    await badge(third, "Your payment is on its way");
    await anvil.rpc("evm_mine");
    await anvil.rpc("evm_setAutomine", [true]);
    for (const page of [first, second, third]) await badge(page, /^Paid$/);
    t.equal(payments(wallet).length, 1);
    t.equal((await shop.read(invoice)).state, "paid");
  });

  t.test("a payment that the contract refuses is explained, and what is missing can be paid", async (t) => {
    const wallet = walletOf(carol);
    const invoice = await create();
    const { page } = await open(await contextOf(t, { wallet }), invoice);
    await anvil.rpc("evm_setAutomine", [false]);
    await pay(page).click();
    await badge(page, "Your payment is on its way");
    // Somebody else's comes into the block before it.
    await anvil.rpc("eth_sendTransaction", [
      {
        from: bob.address,
        to: invoice.depositAddress,
        value: "0x1",
        gas: "0x7a120",
        gasPrice: "0x174876e800",
      },
    ]);
    await anvil.rpc("evm_mine");
    await anvil.rpc("evm_setAutomine", [true]);
    await page.getByText("did not go through, and nothing was taken. Something had been sent").waitFor();
    await pay(page).click();
    await badge(page, /^Paid$/);
    const [, rest] = payments(wallet);
    t.same(rest, { to: invoice.depositAddress, value: 10n * token - 1n, data: "0x" });
  });

  t.test("without a wallet: what to do, the address and the amount copied, in Indonesian", async (t) => {
    const invoice = await create({ amountIdr: 100_000 });
    const { page, problems } = await open(
      await contextOf(t, { locale: "id-ID", permissions: ["clipboard-read", "clipboard-write"] }),
      invoice,
    );
    await outcome(page, "Peramban ini tidak punya dompet");
    const copied = async (name: string) => {
      await page.getByRole("button", { name: `Salin: ${name}` }).click();
      await page.getByText("Tersalin", { exact: true }).waitFor();
      const text = String(await page.evaluate("navigator.clipboard.readText()"));
      await page.getByText("Tersalin", { exact: true }).waitFor({ state: "detached" });
      return text;
    };
    t.equal(await copied("Jumlah"), "6.66667");
    t.equal(await copied("Alamat"), invoice.depositAddress);
    await page.getByRole("link", { name: "English" }).click();
    await badge(page, "Waiting for your payment");
    t.same(problems, []);
  });

  t.test("the time that is left is the chain's, however wrong the browser's clock is", async (t) => {
    const context = await contextOf(t);
    await context.addInitScript(wrongClock);
    const { page } = await open(context, await create());
    const left = page.locator("#left");
    await left.filter({ hasText: /^(?:30:00|29:\d\d)$/ }).waitFor();
    const before = await left.textContent();
    await waitFor("it goes on", async () => (await left.textContent()) !== before);
  });

  // The last: the chain's time goes ahead for all.
  t.test(
    "when time is up nobody is asked to pay; what comes late is shown, and so is what to do",
    async (t) => {
      const wallet = walletOf(carol);
      const invoice = await create({ expiresInMinutes: 5 });
      const { page, problems } = await open(await contextOf(t, { wallet }), invoice);
      await pay(page).waitFor();
      await anvil.rpc("evm_increaseTime", [400]);
      await anvil.rpc("evm_mine");
      await badge(page, "Expired");
      t.equal(await pay(page).count(), 0);
      t.equal(await page.locator("[data-uri]").count(), 0);
      await page.getByText("ask the shop for a new link").waitFor();
      await shop.send(bob, { to: invoice.depositAddress, value: 10n * token });
      await badge(page, "Paid late");
      await page.getByText("ask it whether your order stands").waitFor();
      t.same(payments(wallet), []);
      t.same(problems, []);
    },
  );
});
