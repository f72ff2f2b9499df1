import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import t, { type Test } from "tap";
import { languages } from "../../../gateway/wallet-proxy/page/texts/languages.ts";
import { startChromium } from "../../helpers/chromium.ts";
import { amber, answerAsChain, isTold, type ShowOptions, showPage, type Wallet } from "./page-rig.ts";
import { startTarget } from "./rig.ts";

// Run in the page, as text: the browser's own names are none of this project's types.
const clipboardText = "navigator.clipboard.readText()";
const focusedName = "document.activeElement.ariaLabel ?? document.activeElement.textContent";
const hiddenToTheRightPx = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const addFrame = (src: string) => `new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.addEventListener("load", () => resolve());
  frame.src = ${JSON.stringify(src)};
  document.body.append(frame);
})`;

t.setTimeout(120_000);
const browser = await startChromium(t);
if (browser !== undefined) await testPage(browser);

async function testPage(browser: Browser): Promise<void> {
  const show = (t: Test, options?: ShowOptions) => showPage(t, browser, options);

  t.test("asks a wallet to add the network, with exactly what /network.json says", async (t) => {
    const { page, proxy, problems, walletRequests } = await show(t);
    await page.getByRole("button", { name: "Add to Amber Wallet" }).click();
    await isTold(page, "The network is in your wallet.");
    const configuration = {
      chainId: "0x228d",
      chainName: "Tollgate Testnet",
      nativeCurrency: { name: "Testnet Token", symbol: "TEST", decimals: 18 },
      rpcUrls: [proxy.url],
      blockExplorerUrls: [`${proxy.url}explorer/`],
    };
    t.strictSame(await walletRequests(), [
      { wallet: "Amber Wallet", method: "wallet_addEthereumChain", params: [configuration] },
    ]);
    t.same(problems, []);
  });

  t.test("leads on to test tokens and the explorer once the wallet has the network", async (t) => {
    const faucetUrl = "https://faucet.example/";
    const { page } = await show(t, { faucetUrl });
    const links = page.locator("#next a");
    t.notOk(await links.first().isVisible(), "not before");
    await page.getByRole("button", { name: "Add to Amber Wallet" }).click();
    await page.getByRole("link", { name: "Get test tokens" }).waitFor();
    t.equal(await links.first().getAttribute("href"), faucetUrl);
    const explorer = page.getByRole("link", { name: "Open the explorer" });
    t.equal(await explorer.getAttribute("href"), "/explorer/");
    t.equal(await explorer.getAttribute("target"), "_blank");
  });

  t.test("in Indonesian by the browser's choice, and back by a link that is remembered", async (t) => {
    const { page, proxy, problems } = await show(t, { locale: "id-ID" });
    await page.getByRole("button", { name: "Tambahkan ke Amber Wallet" }).click();
    await isTold(page, "Jaringan sudah ada di dompet Anda.");
    await isTold(page, "Gateway menjawab");
    t.equal(await page.locator("#block").textContent(), "74.565");
    await page.getByRole("link", { name: "English" }).click();
    await page.getByRole("heading", { name: "Add the network to your wallet" }).waitFor();
    await page.goto(proxy.url);
    await page.getByRole("heading", { name: "Add the network to your wallet" }).waitFor();
    t.same(problems, []);
  });

  t.test("without scripts it shows every value, and no button that would do nothing", async (t) => {
    const { page, proxy } = await show(t, { javaScriptEnabled: false });
    for (const value of ["Tollgate Testnet", proxy.url, "8845", "0x228d", `${proxy.url}explorer/`]) {
      t.ok(await page.getByText(value, { exact: true }).first().isVisible(), value);
    }
    t.equal(await page.locator("button:visible").count(), 0);
    t.ok(await page.getByRole("link", { name: "Block explorer" }).isVisible());
  });

  t.test("says what a wallet that does not add it says", async (t) => {
    const cases: [Wallet["answer"], string][] = [
      [{ code: 4001, message: "User rejected" }, "You declined in the wallet, so nothing was added."],
      [{ code: -32002, message: "Pending" }, "The wallet already waits for your answer: open it."],
      [{ code: 4200, message: "Unsupported" }, "This wallet cannot be asked to add a network"],
      [{ code: -32603, message: "Out of <b>ink</b>" }, "The wallet did not add it: Out of <b>ink</b>"],
    ];
    for (const [answer, says] of cases) {
      const { page, problems, walletRequests } = await show(t, { wallets: [{ ...amber, answer }] });
      const button = page.getByRole("button", { name: "Add to Amber Wallet" });
      await button.press("Enter");
      await isTold(page, says);
      t.equal(await page.evaluate(focusedName), "Add to Amber Wallet", "the focus stays");
      await button.press("Enter");
      t.match(await walletRequests(), [{}, {}], "one can try again");
      t.same(problems, []);
    }
  });

  t.test("offers each wallet that announces itself, once", async (t) => {
    const { page, walletRequests } = await show(t, { wallets: [amber, { ...amber, name: "Blue Wallet" }] });
    await page.evaluate("void dispatchEvent(new Event('eip6963:requestProvider'))");
    t.same(await page.locator("#wallets button").allTextContents(), [
      "Add to Amber Wallet",
      "Add to Blue Wallet",
    ]);
    await page.getByRole("button", { name: "Add to Blue Wallet" }).click();
    t.match(await walletRequests(), [{ wallet: "Blue Wallet" }]);
  });

  t.test("finds a wallet that only sets window.ethereum", async (t) => {
    const { page, walletRequests } = await show(t, { wallets: [{ ...amber, announces: false }] });
    await page.getByRole("button", { name: "Add to your browser wallet" }).click();
    await isTold(page, "The network is in your wallet.");
    t.match(await walletRequests(), [{ method: "wallet_addEthereumChain" }]);
  });

  t.test("helps where there is no wallet", async (t) => {
    const { page, problems } = await show(t, { wallets: [] });
    await page.getByText("No wallet was found in this browser.").waitFor();
    t.equal(await page.locator("#wallets button").count(), 0);
    t.same(problems, []);
  });

  t.test("copies each value, and all as JSON", async (t) => {
    const { page, proxy } = await show(t, { permissions: ["clipboard-read", "clipboard-write"] });
    const values = [
      ["Network name", "Tollgate Testnet"],
      ["RPC URL", proxy.url],
      ["Chain ID", "8845"],
      ["Chain ID, hexadecimal", "0x228d"],
      ["Currency symbol", "TEST"],
      ["Currency decimals", "18"],
      ["Block explorer URL", `${proxy.url}explorer/`],
    ] as const;
    for (const [name, value] of values) {
      const button = page.getByRole("button", { name: `Copy: ${name}`, exact: true });
      await button.click();
      await isTold(page, `Copied: ${name}`);
      t.equal(await page.evaluate(clipboardText), value, name);
      t.equal(await button.textContent(), "Copied");
    }
    await page.getByRole("button", { name: "Copy all as JSON" }).click();
    await isTold(page, "Copied: All values");
    const published = await fetch(`${proxy.url}network.json`);
    t.same(JSON.parse(String(await page.evaluate(clipboardText))), await published.json());
  });

  t.test("shows what the network does, and why it does not", async (t) => {
    const { page, target } = await show(t, { hasClock: true });
    await isTold(page, "The gateway answers");
    t.equal(await page.locator("#chain").textContent(), "8845 (0x228d)");
    t.equal(await page.locator("#block").textContent(), "74,565");

    target.answerWith((response) => {
      const error = { code: -32090, message: "The API key was revoked" };
      response.writeHead(401).end(JSON.stringify({ jsonrpc: "2.0", id: 1, error }));
    });
    await page.clock.runFor(5000);
    await isTold(page, "The API key was revoked");

    answerAsChain(target, "0x539");
    await page.clock.runFor(5000);
    await isTold(page, "The gateway serves another network (chain ID 0x539)");

    await target.stop();
    await page.clock.runFor(5000);
    await isTold(page, `The gateway (${target.url}) does not answer: ECONNREFUSED`);
  });

  t.test("waits as long as a limit asks it to", async (t) => {
    const { page, target } = await show(t, { hasClock: true });
    await isTold(page, "The gateway answers");
    target.answerWith((response) => {
      const error = { code: -32005, message: "The request limit is reached" };
      response.writeHead(429, { "Retry-After": "30" }).end(JSON.stringify({ jsonrpc: "2.0", id: 1, error }));
    });
    await page.clock.runFor(5000);
    await isTold(page, "The request limit is reached");
    answerAsChain(target, "0x228d");
    const askedSoFar = target.requests.length;
    await page.clock.runFor(29_000);
    t.equal(target.requests.length, askedSoFar);
    await page.clock.runFor(1000);
    await isTold(page, "The gateway answers");
  });

  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [320, 1280]) {
      t.test(
        `${width} px, ${colorScheme}: nothing to scroll sideways, nothing for axe to find`,
        async (t) => {
          const language = colorScheme === "dark" ? "id" : "en";
          const { words, next } = languages[language];
          const { page, problems } = await show(t, {
            ...{ colorScheme, locale: language, faucetUrl: "https://faucet.example/" },
            viewport: { width, height: 800 },
          });
          await isTold(page, words.gatewayAnswers);
          await page.locator("#wallets button").click();
          await page.getByRole("link", { name: next.tokens }).waitFor();
          t.equal(await page.evaluate(hiddenToTheRightPx), 0);
          t.same(problems, []);
          // Through the debugger, which the page's policy does not hold up.
          await page.evaluate(axe);
          t.same(await page.evaluate("axe.run().then(({ violations }) => violations)"), []);
        },
      );
    }
  }

  t.test("can be used by the keyboard alone", async (t) => {
    const { page } = await show(t);
    await page.getByRole("button", { name: "Add to Amber Wallet" }).waitFor();
    const reached: unknown[] = [];
    for (let presses = 0; presses < 13; presses += 1) {
      await page.keyboard.press("Tab");
      reached.push(await page.evaluate(focusedName));
    }
    t.same(reached.slice(0, 4), [
      "Skip to the content",
      "Add to Amber Wallet",
      "Copy: Network name",
      "Copy: RPC URL",
    ]);
    t.same(reached.slice(-4), [
      "Copy all as JSON: All values",
      "network.json",
      "Block explorer",
      "Bahasa Indonesia",
    ]);
  });

  t.test("is shown in no frame, and its policy lets nothing in from outside", async (t) => {
    const { page, proxy } = await show(t);
    const response = await page.request.get(proxy.url);
    const policy = response.headers()["content-security-policy"];
    t.match(policy, /^default-src 'none'; .*frame-ancestors 'none'/);
    t.notMatch(policy, /unsafe|\*|https?:/);

    const elsewhere = await startTarget(t);
    elsewhere.answerWith((answer) =>
      answer.setHeader("Content-Type", "text/html").end("<!doctype html><body>"),
    );
    await page.goto(elsewhere.url);
    // Both are on loopback, so the frame is asked for; the page itself refuses to be shown in it.
    await page.evaluate(addFrame(proxy.url));
    t.equal(page.frames().length, 2);
    t.equal(page.frames()[1]?.url(), "chrome-error://chromewebdata/");
  });
}
