import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { z } from "zod";
import { merchants } from "../../../../scripts/pages/sites/merchant-sites.ts";
import { createBrowserWallet } from "../../../fakes/browser-wallet/browser-wallet.ts";
import { startChromium } from "../../../helpers/chromium.ts";
import { type OpenOptions, openMerchantPage } from "./support/open-merchant-page.ts";
import { startMerchantSite } from "./support/start-merchant-site.ts";

t.setTimeout(240_000);
const browser = await startChromium(t);
const { alice, bob, carol } = merchants;
const summary = z.object({
  orders: z.array(
    z.object({
      id: z.string(),
      transaction: z.object({ to: z.string(), value: z.string(), data: z.string() }).nullable(),
    }),
  ),
});
/** As where no wallet proxy is configured. */
const forgetRpcUrls = `{
  const { dataset } = document.getElementById("sign-in");
  dataset.network = JSON.stringify({ ...JSON.parse(dataset.network), rpcUrls: [] });
}`;
const stored = "localStorage.getItem('tollgate_wallet')";

t.test(
  "merchants' pages in a browser",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    if (browser === undefined) return;
    const { url, anvil, client } = await startMerchantSite(t);

    const walletOf = (name: string, { privateKey }: { privateKey: string }) =>
      createBrowserWallet({ name, privateKey, rpcUrl: anvil.url });

    const open = (t: Test, options: OpenOptions = {}) => openMerchantPage(t, { browser, url, ...options });

    async function signIn(page: Page, name = "Amber Wallet") {
      await page.goto(`${url}/merchant`);
      await page.getByRole("button", { name: `Sign in with ${name}` }).click();
      await page.getByRole("button", { name: "Sign out" }).waitFor();
    }

    async function orderMonthly(page: Page, label: string) {
      await page.getByRole("link", { name: "Keys", exact: true }).click();
      await page.getByRole("link", { name: "Buy a key" }).first().click();
      await page.getByLabel("Name").fill(label);
      await page.getByRole("button", { name: "Go on to the payment" }).click();
      await page.getByRole("heading", { name: "A key for 30 days" }).waitFor();
    }

    t.test(
      "signing in, buying a key with one prompt, its secret once, revoking it with a second thought",
      async (t) => {
        const wallet = walletOf("Amber Wallet", alice);
        const { page, problems } = await open(t, {
          ...{ wallets: [wallet], permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true },
        });
        await signIn(page);
        t.same(
          wallet.asked.map(({ method }) => method).filter((method) => method !== "eth_chainId"),
          ["eth_requestAccounts", "wallet_switchEthereumChain", "wallet_addEthereumChain", "personal_sign"],
          "the network is added to a wallet that does not know it",
        );
        t.match(wallet.asked.find(({ method }) => method === "wallet_addEthereumChain")?.params, [
          { chainId: "0x228d", rpcUrls: ["http://127.0.0.1:8541/"], blockExplorerUrls: [url] },
        ]);
        await page.getByRole("link", { name: "Keys", exact: true }).click();
        await page.getByText("You have no key yet.").waitFor();

        await orderMonthly(page, "Web shop");
        await page.getByRole("button", { name: "Pay 100 TEST" }).click();
        await page.getByRole("button", { name: "Show the key" }).waitFor();
        t.equal(
          wallet.asked.filter(({ method }) => method === "eth_sendTransaction").length,
          1,
          "one prompt",
        );
        await page.getByRole("button", { name: "Show the key" }).click();
        const shown = page.locator("#secret code");
        const secret = (await shown.textContent()) ?? "";
        t.match(secret, /^svc_dev_[0-9A-Za-z]{40,}$/);
        await page.getByRole("button", { name: "Copy: Key" }).click();
        await page.getByText("Copied", { exact: true }).waitFor();
        t.equal(await page.evaluate("navigator.clipboard.readText()"), secret);
        const [file] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("link", { name: "Save as .env" }).click(),
        ]);
        t.equal(file.suggestedFilename(), "tollgate.env");
        const stream = await file.createReadStream();
        t.match((await stream.toArray()).join(""), `SVC_DEV_KEY=${secret}\n`);
        const dashboard = await fetch(`${url}/api/v1/svc-dev/v1/dashboard`, {
          headers: { "X-Svc-Dev-Key": secret },
        });
        t.equal(dashboard.status, 200, "the key opens what it is for");

        await page.getByRole("link", { name: "I have saved it" }).click();
        await page.getByRole("heading", { name: "Web shop" }).waitFor();
        await page.goBack();
        await page.getByText("This order's key has been issued.").waitFor();
        t.notMatch(await page.content(), secret, "going back, it is gone");
        await page.reload();
        await page.getByText("This order's key has been issued.").waitFor();
        t.notMatch(await page.content(), secret, "loaded again, it is gone");
        await page.getByRole("link", { name: "To your keys" }).click();
        t.notMatch(await page.content(), secret);
        await page.getByRole("link", { name: "Revoke Web shop" }).click();
        await page.getByRole("link", { name: "Keep it" }).click();
        await page.getByText("1 of at most 5 keys are active.").waitFor();
        await page.getByRole("link", { name: "Revoke Web shop" }).click();
        await page.getByRole("button", { name: "Revoke it for good" }).click();
        await page.getByText("The key is revoked.").waitFor();
        const refused = await fetch(`${url}/api/v1/svc-dev/v1/dashboard`, {
          headers: { "X-Svc-Dev-Key": secret },
        });
        t.match(await refused.json(), { status: 401, code: "api_key_revoked" });

        await page.getByRole("button", { name: "Sign out" }).click();
        await page.getByRole("heading", { name: "Sign in with your wallet" }).waitFor();
        t.same(problems, []);
      },
    );

    t.test("who declines, or is elsewhere, is told so, and nothing is lost", async (t) => {
      const wallet = walletOf("Amber Wallet", bob);
      const { page } = await open(t, { wallets: [wallet] });
      const outcome = page.locator("#outcome");
      wallet.declines.add("personal_sign");
      await page.goto(`${url}/merchant`);
      await page.getByRole("button", { name: "Sign in with Amber Wallet" }).click();
      await outcome.filter({ hasText: "You declined in the wallet." }).waitFor();
      wallet.declines.clear();
      await signIn(page);
      await orderMonthly(page, "");

      wallet.declines.add("eth_sendTransaction");
      await page.getByRole("button", { name: "Pay 100 TEST" }).click();
      await outcome.filter({ hasText: "You declined in the wallet." }).waitFor();
      wallet.declines.clear();
      wallet.chainId = "0x1";
      wallet.declines.add("wallet_switchEthereumChain");
      await page.getByRole("button", { name: "Pay 100 TEST" }).click();
      await outcome.filter({ hasText: "You declined in the wallet." }).waitFor();
      t.notOk(
        wallet.asked.slice(-2).some(({ method }) => method === "eth_sendTransaction"),
        "nothing is sent in another network",
      );
      wallet.declines.clear();
      wallet.account = carol.address;
      await page.getByRole("button", { name: "Pay 100 TEST" }).click();
      await outcome.filter({ hasText: `Choose the account ${bob.address} in your wallet` }).waitFor();
      wallet.account = bob.address;
      const balance = String(await anvil.rpc("eth_getBalance", [bob.address, "latest"]));
      await anvil.rpc("anvil_setBalance", [bob.address, "0xde0b6b3a7640000"]);
      await page.getByRole("button", { name: "Pay 100 TEST" }).click();
      await outcome.filter({ hasText: "This account has 1 TEST, and the order costs 100 TEST." }).waitFor();
      t.equal(
        await outcome.getByRole("link", { name: "Get test tokens from the faucet" }).getAttribute("href"),
        "https://faucet.example",
      );
      await anvil.rpc("anvil_setBalance", [bob.address, balance]);
      await page.getByRole("button", { name: "Pay 100 TEST" }).click();
      await page.getByRole("button", { name: "Show the key" }).waitFor();
    });

    t.test(
      "a payment goes on where the page was left: by another page, a reload, a double click",
      async (t) => {
        const wallet = walletOf("Amber Wallet", carol);
        const { page } = await open(t, { wallets: [wallet] });
        await signIn(page);
        await page.getByRole("link", { name: "Buy a key" }).first().click();
        await page.getByRole("button", { name: "Go on to the payment" }).dblclick();
        await page.getByRole("button", { name: "Pay 100 TEST" }).waitFor();
        const { token } = await client.signIn(carol);
        t.equal((await summaryOf(token)).orders.length, 1, "one order");
        const orderUrl = page.url();

        await anvil.rpc("evm_setAutomine", [false]);
        await page.getByRole("button", { name: "Pay 100 TEST" }).dblclick();
        await page.getByText("Your payment is on its way into a block.").first().waitFor();
        t.equal(
          wallet.asked.filter(({ method }) => method === "eth_sendTransaction").length,
          1,
          "one payment",
        );
        await page.reload();
        await page.locator("#state", { hasText: "on its way into a block" }).waitFor();
        await page.goto(`${url}/merchant/keys`);
        await page.getByRole("link", { name: "Go on with it" }).click();
        await page.locator("#state", { hasText: "on its way into a block" }).waitFor();
        t.equal(page.url().split("?")[0], orderUrl);
        t.equal(await page.getByRole("button", { name: "Pay 100 TEST" }).count(), 0, "it is not paid twice");
        await anvil.rpc("evm_mine");
        await anvil.rpc("evm_setAutomine", [true]);
        await page.getByRole("button", { name: "Show the key" }).waitFor();
        await page.goto(`${url}/merchant`);
        await page.getByText("You have paid for a key and not taken it yet").waitFor();
      },
    );

    t.test("of several wallets one chooses; the last choice stands first, and pays", async (t) => {
      const wallets = [walletOf("Amber Wallet", alice), walletOf("Blue Wallet", bob)];
      const { page } = await open(t, { wallets });
      await signIn(page, "Blue Wallet");
      t.equal(await page.evaluate(stored), "example.blue-wallet");
      await page.getByRole("button", { name: "Sign out" }).click();
      const first = page.locator("#wallets button").first();
      await first.filter({ hasText: "Sign in with Blue Wallet (last used)" }).waitFor();
      await page.getByRole("button", { name: "Sign in with Amber Wallet" }).waitFor();
      await first.click();
      await page.getByRole("button", { name: "Sign out" }).waitFor();
      await orderMonthly(page, "Of two");
      await page.getByRole("button", { name: "Pay 100 TEST" }).click();
      await page.getByRole("button", { name: "Show the key" }).waitFor();
      t.equal(wallets[1]?.asked.at(-1)?.method, "eth_sendTransaction");
      t.same(wallets[0]?.asked, [], "the other was never asked");
    });

    t.test("a wallet that does not come to the network is told of, and nothing is signed", async (t) => {
      const wallet = walletOf("Amber Wallet", alice);
      const { page } = await open(t, { wallets: [wallet] });
      const outcome = page.locator("#outcome");
      await page.goto(`${url}/merchant`);
      await page.evaluate(forgetRpcUrls);
      await page.getByRole("button", { name: "Sign in with Amber Wallet" }).click();
      await outcome.filter({ hasText: "Your wallet does not know the network yet." }).waitFor();
      const { answer } = wallet;
      wallet.answer = async (method, params) => {
        if (method === "wallet_switchEthereumChain") return null;
        return answer(method, params);
      };
      await page.reload();
      await page.getByRole("button", { name: "Sign in with Amber Wallet" }).click();
      await outcome.filter({ hasText: "Your wallet is still in another network." }).waitFor();
      t.notOk(wallet.asked.some(({ method }) => method === "personal_sign"));
    });

    t.test("who signed in elsewhere chooses the wallet to pay with", async (t) => {
      const wallets = [walletOf("Amber Wallet", alice), walletOf("Blue Wallet", bob)];
      const { page } = await open(t, { wallets });
      const { cookie } = await client.signIn(bob);
      await page.context().addCookies([{ ...cookie, url }]);
      await page.goto(`${url}/merchant`);
      await orderMonthly(page, "Chosen");
      await page.getByRole("button", { name: "Pay 100 TEST" }).click();
      await page.getByRole("button", { name: "Pay with Amber Wallet" }).click();
      await page.getByText(`Choose the account ${bob.address} in your wallet`).waitFor();
      await page.getByRole("button", { name: "Pay with Blue Wallet" }).click();
      await page.getByRole("button", { name: "Show the key" }).waitFor();
      t.equal(await page.evaluate(stored), "example.blue-wallet");
    });

    t.test("without a wallet the page says what to do, in the reader's language", async (t) => {
      const { page, problems } = await open(t, { locale: "id-ID" });
      await page.goto(`${url}/merchant`);
      await page.getByText("Peramban ini tidak punya dompet.").waitFor();
      t.equal(
        await page.getByRole("link", { name: "halaman wallet proxy" }).getAttribute("href"),
        "http://127.0.0.1:8541/",
      );
      await page.getByRole("link", { name: "English" }).click();
      await page.getByText("This browser has no wallet.").waitFor();
      t.same(problems, []);
    });

    t.test("on a narrow screen the navigation shows where one is", async (t) => {
      const { page } = await open(t, { viewport: { width: 320, height: 640 } });
      await page.goto(`${url}/merchant`);
      const { x, width } = (await page.getByRole("link", { name: "Merchants" }).boundingBox()) ?? {
        x: 999,
        width: 0,
      };
      t.ok(x > 0 && x + width < 320, `from ${x} to ${x + width} of 320`);
    });

    t.test("by another name of the server the page leads to the one that wallets are shown", async (t) => {
      const { page } = await open(t, { wallets: [walletOf("Amber Wallet", alice)] });
      await page.goto(`${url.replace("127.0.0.1", "localhost")}/merchant`);
      await page.getByRole("link", { name: `${url}/merchant` }).click();
      await page.getByRole("button", { name: "Sign in with Amber Wallet" }).waitFor();
    });

    t.test(
      "the server goes away while somebody waits: the page says so, and goes on by itself",
      async (t) => {
        const wallet = walletOf("Amber Wallet", alice);
        const { page } = await open(t, { wallets: [wallet] });
        await signIn(page);
        await orderMonthly(page, "Patience");
        await page.route("**/*", (route) => route.abort());
        await page.getByRole("button", { name: "Pay 100 TEST" }).click();
        await page.getByText("The server does not answer. What was paid is not lost").waitFor();
        await page.unroute("**/*");
        await page.getByRole("button", { name: "Show the key" }).waitFor();
      },
    );

    t.test(
      "without scripts all works but signing: an order, its key, revoking, sessions, signing out",
      async (t) => {
        const session = await client.signIn(carol);
        const other = await client.signIn(carol);
        const { page } = await open(t, { javaScriptEnabled: false });
        await page.goto(`${url}/merchant`);
        t.match(
          await page.locator("#sign-in noscript p").textContent(),
          "Signing in needs a wallet, and a wallet needs scripts",
        );
        await page.context().addCookies([{ ...session.cookie, url }]);
        await page.goto(`${url}/merchant/buy`);
        await page.getByText("Yearly").click();
        await page.getByLabel("Name").fill("No scripts");
        await page.getByRole("button", { name: "Go on to the payment" }).click();
        await page.getByText("Pay without this page").click();
        const [order] = (await summaryOf(session.token)).orders;
        if (order === undefined) throw new Error("there is no order");
        t.match(await page.locator("details").textContent(), order.transaction?.data ?? "");
        await client.pay(carol, {
          id: order.id,
          transaction: order.transaction ?? { to: "", value: "", data: "" },
        });
        const take = page.getByRole("button", { name: "Show the key" });
        for (let tries = 0; tries < 100 && !(await take.isVisible()); tries += 1) await page.reload();
        await take.click();
        t.match(await page.locator("#secret code").textContent(), /^svc_dev_/);
        await page.getByRole("link", { name: "I have saved it" }).click();
        await page.getByRole("link", { name: "Revoke No scripts" }).click();
        await page.getByRole("button", { name: "Revoke it for good" }).click();
        await page.getByText("The key is revoked.").waitFor();
        await page.getByRole("link", { name: "Sessions" }).click();
        await page.getByRole("button", { name: "End all others" }).click();
        await page.getByText("The session has ended.").waitFor();
        t.equal((await fetch(`${url}/api/v1/svc-dev/session`, bearer(other.token))).status, 401);
        await page.getByRole("button", { name: "Sign out" }).click();
        t.equal((await fetch(`${url}/api/v1/svc-dev/session`, bearer(session.token))).status, 401);
      },
    );

    async function summaryOf(token: string) {
      const response = await fetch(`${url}/api/v1/svc-dev/summary/${carol.address}`, bearer(token));
      return summary.parse(await response.json());
    }
  },
);

function bearer(token: string) {
  return { headers: { Authorization: `Bearer ${token}` } };
}
