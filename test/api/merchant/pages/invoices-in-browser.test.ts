import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { merchants } from "../../../../scripts/pages/sites/merchant-sites.ts";
import { createBrowserWallet } from "../../../fakes/browser-wallet/browser-wallet.ts";
import { startChromium } from "../../../helpers/chromium.ts";
import { type OpenOptions, openMerchantPage } from "./support/open-merchant-page.ts";
import { startMerchantSite } from "./support/start-merchant-site.ts";

t.setTimeout(240_000);
const browser = await startChromium(t);
const { alice, bob, carol } = merchants;
const token = 10n ** 18n;

t.test(
  "invoices' pages in a browser",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    if (browser === undefined) return;
    const { url, anvil, client } = await startMerchantSite(t);
    const balanceOf = async (address: string) =>
      BigInt(String(await anvil.rpc("eth_getBalance", [address, "latest"])));

    /** A page of who is signed in, and what went wrong in it. */
    const open = async (
      t: Test,
      { merchant = alice, ...options }: OpenOptions & { merchant?: typeof alice } = {},
    ) =>
      openMerchantPage(t, {
        ...{ browser, url, cookies: [{ ...(await client.signIn(merchant)).cookie, url }] },
        ...options,
      });

    async function makeInvoice(page: Page, amount: string, customer: string) {
      await page.goto(`${url}/merchant/invoices/new`);
      await page.getByLabel("Amount in rupiah").fill(amount);
      await page.getByLabel("Customer", { exact: true }).fill(customer);
      await page.getByRole("button", { name: "Make the invoice" }).dblclick();
      await page.getByText("The invoice is made.").waitFor();
      return (await page.locator("#invoice-facts [data-copy]").getAttribute("data-copy")) ?? "";
    }

    const transfer = (to: string, value: bigint) =>
      anvil.rpc("eth_sendTransaction", [{ from: bob.address, to, value: `0x${value.toString(16)}` }]);

    t.test(
      "a double click makes one invoice; its page tells of each payment by itself, and too much is given back by the wallet",
      async (t) => {
        const wallet = createBrowserWallet({
          ...{ name: "Amber Wallet", privateKey: alice.privateKey, rpcUrl: anvil.url },
        });
        const { page, problems } = await open(t, {
          ...{ wallets: [wallet], permissions: ["clipboard-read", "clipboard-write"] },
        });
        const box = await makeInvoice(page, "Rp 150.000", "Pak Agus");
        t.match(page.url(), /\/merchant\/invoices\/inv_\w{22}\?done=made$/);
        const invoiceUrl = page.url().split("?")[0] ?? "";
        await page.getByRole("button", { name: "Copy: Link to pay" }).click();
        t.match(await page.evaluate("navigator.clipboard.readText()"), new RegExp(`^${url}/pay/\\w{22}$`));
        await page.getByRole("img", { name: "Code of the link to pay" }).waitFor();

        await transfer(box, 4n * token);
        await page.getByText("Rp\u00a090.000 (6 TEST) are missing.").waitFor();
        await transfer(box, 8n * token);
        await page
          .locator("#invoice-state", { hasText: "Paid, and Rp\u00a030.000 (2 TEST) too much." })
          .waitFor();
        t.equal(
          await page.getByRole("img", { name: "Code of the link to pay" }).count(),
          0,
          "the code is gone",
        );
        await page.getByText("The whole amount was there").waitFor();

        await page.getByRole("link", { name: "Give back" }).click();
        wallet.declines.add("eth_sendTransaction");
        await page.getByRole("button", { name: "Give back 2 TEST" }).click();
        await page.getByText("You declined in the wallet.").waitFor();
        wallet.declines.clear();
        const before = await balanceOf(bob.address);
        await page.getByRole("button", { name: "Give back 2 TEST" }).dblclick();
        await page.getByText("Your wallet has sent it.").waitFor();
        const sent = wallet.asked.filter(({ method }) => method === "eth_sendTransaction");
        t.equal(sent.length, 2, "the one that was declined, and one");
        t.match(sent.at(-1)?.params, [{ to: bob.address, value: "0x1bc16d674ec80000", data: "0x" }]);
        const hash = (await page.locator("#refund-sent code").textContent()) ?? "";
        t.match(hash, /^0x[0-9a-f]{64}$/);
        t.equal(Object(await anvil.rpc("eth_getTransactionReceipt", [hash])).status, "0x1");
        t.equal((await balanceOf(bob.address)) - before, 2n * token);
        t.equal(await page.locator("#pay").isVisible(), false, "it is not sent twice from here");

        await page.goto(`${url}/merchant/invoices`);
        t.equal(await page.locator(".invoice-name").count(), 1, "one invoice");
        t.equal(await page.getByRole("link", { name: "Pak Agus" }).count(), 1);
        await page.getByRole("link", { name: "Overview" }).click();
        await page.getByText("1 invoice was paid with Rp\u00a030.000 too much").waitFor();
        t.ok(invoiceUrl.startsWith(url));
        t.same(problems, []);
      },
    );

    t.test("who has another account open gives nothing back from it", async (t) => {
      const wallet = createBrowserWallet({
        ...{ name: "Amber Wallet", privateKey: carol.privateKey, rpcUrl: anvil.url },
      });
      const { page } = await open(t, { wallets: [wallet] });
      await page.goto(`${url}/merchant/invoices?q=agus`);
      await page.getByRole("link", { name: "Pak Agus" }).click();
      await page.getByRole("link", { name: "Give back" }).click();
      await page.getByRole("button", { name: "Give back 2 TEST" }).click();
      await page.getByText(`Choose the account ${alice.address} in your wallet`).waitFor();
      t.notOk(wallet.asked.some(({ method }) => method === "eth_sendTransaction"));
    });

    t.test(
      "a page that comes back after its form was sent makes nothing of what is changed in it",
      async (t) => {
        const { page } = await open(t, { merchant: bob });
        await makeInvoice(page, "20000", "First");
        await page.goBack();
        await page.getByLabel("Amount in rupiah").fill("30000");
        await page.getByLabel("Customer", { exact: true }).fill("Second");
        await page.getByRole("button", { name: "Make the invoice" }).click();
        await page.locator(".done, .message").first().waitFor();
        await page.goto(`${url}/merchant/invoices`);
        const amounts = await page.locator(".invoice-amount strong").allTextContents();
        t.ok(
          amounts.length === 1 || amounts.includes("Rp\u00a030.000"),
          "never the first one again in silence",
        );
      },
    );

    t.test(
      "without scripts: making, finding, paying by hand, collecting, giving back by copy, canceling",
      async (t) => {
        const { page } = await open(t, { merchant: carol, javaScriptEnabled: false });
        const box = await makeInvoice(page, "150.000", "Ibu Sari");
        const invoiceUrl = page.url().split("?")[0] ?? "";
        await transfer(box, 4n * token);
        const until = async (text: string) => {
          const wanted = page.getByText(text).first();
          for (let tries = 0; tries < 200 && !(await wanted.isVisible()); tries += 1)
            await page.goto(invoiceUrl);
          await wanted.waitFor();
        };
        await until("are missing.");
        await page.getByRole("button", { name: "Pass on what has come" }).click();
        await page.getByText("It is on its way to your wallet").waitFor();
        const passOn = page.getByRole("button", { name: "Pass on what has come" });
        await page.goto(invoiceUrl);
        for (let tries = 0; tries < 200 && (await passOn.count()) > 0; tries += 1)
          await page.goto(invoiceUrl);
        t.equal(await passOn.count(), 0, "nothing lies in the box any more");
        await page.getByRole("link", { name: "Give back" }).click();
        t.match(
          await page.locator("#refund noscript p").textContent(),
          "Without scripts this page cannot open your wallet",
        );
        t.equal(await page.locator("#pay").isVisible(), false);
        await page.getByText(String(4n * token)).waitFor();
        await page.getByText(bob.address).waitFor();

        await makeInvoice(page, "99.000", "Toko Maju");
        await page.getByRole("link", { name: "Cancel it" }).click();
        await page.getByRole("link", { name: "Keep it" }).click();
        await page.getByText("Waits for").waitFor();
        await page.getByRole("link", { name: "Cancel it" }).click();
        await page.getByRole("button", { name: "Cancel it" }).click();
        await page.getByText("The invoice is canceled.").waitFor();

        await page.getByRole("link", { name: "Invoices" }).click();
        await page.getByLabel("Find an invoice").fill("maju");
        await page.getByRole("button", { name: "Show" }).click();
        t.same(await page.locator(".invoice-name a").allTextContents(), ["Toko Maju"]);
        await page.getByLabel("State").selectOption("underpaid");
        await page.getByRole("button", { name: "Show" }).click();
        await page.getByText("No invoice is like that.").waitFor();
        await page.getByRole("link", { name: "Show all invoices" }).click();
        t.equal(await page.locator(".invoice-name").count(), 2);
      },
    );
  },
);
