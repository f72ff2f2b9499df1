import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import t, { type Test } from "tap";
import { languages } from "../../faucet/page/texts/languages.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { startChromium } from "../helpers/chromium.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { randomAddress } from "./support/outside-wallet.ts";
import { type FaucetUnderTest, startFaucet } from "./support/start-faucet.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// Run in the page, as text: the browser's own names are none of this project's types.
const hiddenToTheRightPx = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
const focusedId = "document.activeElement.id";

t.setTimeout(300_000);
const browser = await startChromium(t);

t.test("the faucet's page", { skip: browser === undefined && "there is no chromium" }, async (t) => {
  if (browser === undefined) return;
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const addresses = Array.from({ length: 24 }, randomAddress);
  const generous = randomAddress();
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: [...addresses.map((address) => ({ address })), { address: generous, amount: "25" }],
    change: (config) => ({
      ...config,
      explorerUrl: "https://explorer.example",
      contact: "help@example.org",
      upstreamTimeoutMs: 1000,
    }),
  });
  const next = () => addresses.pop() ?? "";
  const open = (t: Test, options: OpenOptions = {}) => openPage(t, { browser, faucet, ...options });

  t.test("a claim by keyboard, through to confirmed", async (t) => {
    const { page, problems } = await open(t);
    await page.getByLabel("Your address").focus();
    await page.keyboard.type(next());
    await page.keyboard.press("Enter");
    await page.getByText("The tokens have arrived.").waitFor();
    t.equal(await page.evaluate(focusedId), "claim-title", "who reads the page is led to the claim");
    t.equal(await page.locator("li[data-state=done]").count(), 4);
    const link = page.getByRole("link", { name: /^0x[0-9a-f]{64}$/ });
    t.match(await link.getAttribute("href"), /^https:\/\/explorer\.example\/tx\/0x[0-9a-f]{64}$/);
    t.equal(await link.getAttribute("target"), "_blank", "the page stays");
    t.match(page.url(), /\/claims\/[0-9a-f]{32}$/);
    await page.reload();
    t.ok(await page.getByText("The tokens have arrived.").isVisible(), "and finds it again");
    t.same(problems, []);
  });

  t.test("an address that is pasted with blanks around it is not cut", async (t) => {
    const { page } = await open(t);
    await page.getByLabel("Your address").focus();
    await page.keyboard.insertText(`   ${next()}  `);
    await page.keyboard.press("Enter");
    await page.getByText("The tokens have arrived.").waitFor();
  });

  t.test("a claim that is gone is asked for no more, and said to be gone", async (t) => {
    const { page } = await open(t);
    let asked = 0;
    await page.route("**/claims/*", (route) => {
      asked += 1;
      return asked === 1
        ? route.continue()
        : route.fulfill({ status: 404, contentType: "text/html", body: "" });
    });
    await page.getByLabel("Your address").fill(next());
    await page.keyboard.press("Enter");
    await page.getByText("The faucet does not know this claim any more.").waitFor();
    const before = asked;
    // Two more would have come by then.
    await page.waitForTimeout(2500);
    t.equal(asked, before);
  });

  t.test("the state moves while one looks", async (t) => {
    const { page } = await open(t);
    await anvil.rpc("evm_setAutomine", [false]);
    await page.getByLabel("Your address").fill(next());
    await page.getByRole("button", { name: "Claim 10 TEST" }).click();
    await page.getByText("The network has the payment").waitFor();
    t.equal(await page.locator("li[data-state=now]").textContent(), "Sent");
    await anvil.rpc("evm_mine");
    await anvil.rpc("evm_setAutomine", [true]);
    await page.getByText("The tokens have arrived.").waitFor();
  });

  t.test("a refusal is said where the address was typed", async (t) => {
    const { page, problems } = await open(t);
    const cases = [
      ["", "Type the address that is to get the tokens."],
      ["0x12", "An address was expected: 0x and 40 hexadecimal digits."],
      [randomAddress(), "The address is not on the faucet's allowlist"],
    ] as const;
    for (const [text, says] of cases) {
      await page.getByLabel("Your address").fill(text);
      await page.getByRole("button", { name: "Claim 10 TEST" }).click();
      await page.getByRole("alert").filter({ hasText: says }).waitFor();
      t.equal(await page.getByLabel("Your address").getAttribute("aria-invalid"), "true");
    }
    t.notOk(await page.locator("#claim").isVisible());
    t.same(
      problems.filter((problem) => !problem.includes("status of 40")),
      [],
    );
  });

  t.test("the same address again: what one has, and when the next is possible", async (t) => {
    const { page } = await open(t);
    const address = next();
    await faucet.claim({ address });
    await page.getByLabel("Your address").fill(address);
    await page.getByRole("button", { name: "Claim 10 TEST" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: "The address has had its claim. The next is possible in 24 hours:" })
      .waitFor();
  });

  t.test("the moment of success: what, to whom, what it holds now, and when the next is", async (t) => {
    const { page, problems } = await open(t, { permissions: ["clipboard-read", "clipboard-write"] });
    const address = next();
    await page.getByLabel("Your address").fill(address);
    await page.keyboard.press("Enter");
    await page.getByText("The tokens have arrived.").waitFor();
    t.equal(await page.locator("#sum .mono").getAttribute("title"), address);
    t.match(
      await page.locator("#sum").textContent(),
      `10 TEST → ${address.slice(0, 6)}…${address.slice(-4)}`,
    );
    const factOf = (name: string) =>
      page.locator("#claim-facts div", { hasText: name }).locator("dd").textContent();
    t.equal(await factOf("Balance after it"), "10 TEST");
    t.match(await factOf("Next claim"), /\b20\d\d\b/);
    await page.getByRole("button", { name: "Copy: Recipient" }).click();
    await page.getByRole("status").filter({ hasText: "Copied: Recipient" }).waitFor();
    t.equal(await page.evaluate("navigator.clipboard.readText()"), address);
    t.same(problems, []);

    await page.getByRole("button", { name: "Claim 10 TEST" }).click();
    await page.getByRole("alert").filter({ hasText: "The next is possible in" }).waitFor();
    t.ok(await page.locator("#claim").isVisible(), "the same address's claim stays");
    await page.getByLabel("Your address").fill(randomAddress());
    await page.getByRole("button", { name: "Claim 10 TEST" }).click();
    await page.getByRole("alert").filter({ hasText: "not on the faucet's allowlist" }).waitFor();
    t.notOk(await page.locator("#claim").isVisible(), "what is said of another does not stand above it");
    const row = page.locator("#recent li", { hasText: address.slice(-4) });
    t.match(await row.textContent(), /Confirmed/);
    await row.getByRole("link").click();
    await page.getByText("The tokens have arrived.").waitFor();
    t.notOk(await page.locator("#recent").isVisible(), "the claim that is shown is not listed again");
  });

  t.test("a claim of an address that gets more says how much", async (t) => {
    const { page } = await open(t);
    await page.getByLabel("Your address").fill(generous);
    await page.getByRole("button", { name: "Claim 25 TEST" }).click();
    await page.getByText("The tokens have arrived.").waitFor();
    t.match(await page.locator("#sum").textContent(), "25 TEST →");
    await page.getByLabel("Your address").fill(next());
    await page.getByRole("button", { name: "Claim 10 TEST" }).waitFor();
  });

  t.test("while a claim is sent the button says so, and a second press claims no second time", async (t) => {
    const { page } = await open(t);
    const held = Promise.withResolvers<void>();
    let sent = 0;
    await page.route("**/claim", async (route) => {
      sent += 1;
      await held.promise;
      await route.continue();
    });
    await page.getByLabel("Your address").fill(next());
    await page.keyboard.press("Enter");
    const button = page.getByRole("button", { name: "Claiming…" });
    await button.waitFor();
    t.equal(await button.getAttribute("aria-busy"), "true");
    await page.keyboard.press("Enter");
    held.resolve();
    await page.getByText("The tokens have arrived.").waitFor();
    t.equal(sent, 1);
    await page.getByRole("button", { name: "Claim 10 TEST" }).waitFor();
  });

  t.test("the status follows, and says when the node hangs", async (t) => {
    const { page } = await open(t);
    await page.locator("#state", { hasText: "Open" }).waitFor();
    process.kill(anvil.pid, "SIGSTOP");
    try {
      await page.locator("#state", { hasText: "the network does not answer" }).waitFor();
    } finally {
      process.kill(anvil.pid, "SIGCONT");
    }
    await page.locator("#state", { hasText: "Open" }).waitFor();
    await page.route("**/*", (route) => route.abort());
    await page.locator("#state", { hasText: "The faucet does not answer" }).waitFor();
  });

  t.test("of several wallets each is offered by its name", async (t) => {
    const [one, other] = [next(), next()];
    const { page } = await open(t, {
      announced: [
        { name: "Amber Wallet", address: one },
        { name: "Blue Wallet", address: other },
      ],
    });
    await page.getByRole("button", { name: "Use Amber Wallet" }).waitFor();
    await page.getByRole("button", { name: "Add the network to Blue Wallet" }).click();
    await page.getByText("The network is in your wallet.").waitFor();
    await page.getByRole("button", { name: "Use Blue Wallet" }).click();
    await page.getByRole("button", { name: "Claim 10 TEST" }).focus();
    t.equal(await page.getByLabel("Your address").inputValue(), other);
  });

  t.test("in Indonesian by the browser's choice, and back by a link that is remembered", async (t) => {
    const { page, problems } = await open(t, { locale: "id-ID" });
    t.equal(await page.evaluate("document.documentElement.lang"), "id");
    await page.getByLabel("Alamat Anda").fill("0x12");
    await page.getByRole("button", { name: "Klaim 10 TEST" }).click();
    await page.getByRole("alert").filter({ hasText: "0x dan 40 digit heksadesimal" }).waitFor();
    await page.getByLabel("Alamat Anda").fill(next());
    await page.keyboard.press("Enter");
    await page.getByText("Token sudah sampai.").waitFor();
    await page.getByRole("link", { name: "English" }).click();
    await page.getByText("The tokens have arrived.").waitFor();
    await page.goto(faucet.url);
    await page.getByRole("heading", { name: "Test tokens for your wallet" }).waitFor();
    t.same(
      problems.filter((problem) => !problem.includes("status of 40")),
      [],
    );
  });

  t.test(
    "without scripts: a claim through to confirmed, and a refusal with the form as it was",
    async (t) => {
      const { page } = await open(t, { javaScriptEnabled: false });
      t.notOk(await page.getByRole("button", { name: "Use my wallet" }).isVisible());
      await page.getByLabel("Your address").fill(next());
      await page.getByRole("button", { name: "Claim 10 TEST" }).click();
      // A page that loads itself again would take its reader's place away (WCAG 2.2.1): there is a link.
      await waitFor("the tokens have arrived", async () => {
        if (await page.getByText("The tokens have arrived.").isVisible()) return true;
        await page.getByRole("link", { name: "See how it stands now" }).click();
        return false;
      });
      t.match(await page.locator("#claim-facts").textContent(), /Balance after it\s*10 TEST/);
      await page.getByRole("button", { name: "Claim 10 TEST" }).click();
      await page.getByText("The next is possible in 24 hours:").waitFor();
      t.match(await page.locator("#recent").textContent(), /10 TEST[\s\S]*Confirmed/);
      const other = randomAddress();
      await page.getByLabel("Your address").fill(other);
      await page.getByRole("button", { name: "Claim 10 TEST" }).click();
      await page.getByText("The address is not on the faucet's allowlist").waitFor();
      t.equal(await page.getByLabel("Your address").inputValue(), other);
      t.match(await page.title(), /refused/);
    },
  );

  t.test("a wallet gives its address, and takes the network", async (t) => {
    const address = next();
    const { page, problems } = await open(t, { wallet: { address } });
    await page.getByRole("button", { name: "Use my wallet" }).click();
    await page.getByRole("button", { name: "Claim 10 TEST" }).focus();
    t.equal(await page.getByLabel("Your address").inputValue(), address);
    await page.getByRole("button", { name: "Add the network to my wallet" }).click();
    await page.getByText("The network is in your wallet.").waitFor();
    t.strictSame(await page.evaluate("window.asked"), [
      { method: "eth_requestAccounts" },
      {
        method: "wallet_addEthereumChain",
        params: [
          {
            chainId: "0x228d",
            chainName: "Tollgate Testnet",
            nativeCurrency: { name: "Testnet Token", symbol: "TEST", decimals: 18 },
            rpcUrls: ["http://127.0.0.1:8541/"],
            blockExplorerUrls: ["https://explorer.example"],
          },
        ],
      },
    ]);
    t.same(problems, []);
  });

  t.test("a wallet that says no is told of", async (t) => {
    const { page } = await open(t, { wallet: { error: { code: 4001, message: "no" } } });
    await page.getByRole("button", { name: "Use my wallet" }).click();
    await page.getByRole("alert").filter({ hasText: "You declined in the wallet." }).waitFor();
    await page.getByRole("button", { name: "Add the network to my wallet" }).click();
    await page.locator("#network-outcome", { hasText: "You declined in the wallet." }).waitFor();
  });

  t.test(
    "axe finds nothing, light and dark, narrow and wide, in both languages, before and after a claim",
    async (t) => {
      for (const [colorScheme, width, language] of [
        ["light", 320, "en"],
        ["dark", 1280, "en"],
        ["dark", 320, "id"],
      ] as const) {
        const { form, claim, refusals } = languages[language];
        const name = `${colorScheme}-${width}-${language}`;
        const { page } = await open(t, {
          ...{ colorScheme, locale: language },
          viewport: { width, height: 900 },
          wallet: { address: next() },
        });
        await page.getByRole("button", { name: form.useWallet }).waitFor();
        await page.getByLabel(form.address).fill("0x12");
        await page.getByRole("button", { name: form.submit("10 TEST") }).click();
        await page.getByRole("alert").filter({ hasText: refusals.address_form }).waitFor();
        await look(t, { page, name: `${name}-refused` });
        await page.getByRole("button", { name: form.useWallet }).click();
        await page.getByRole("button", { name: form.submit("10 TEST") }).click();
        await page.getByText(claim.steps.confirmed.says).waitFor();
        await look(t, { page, name: `${name}-confirmed` });
      }
    },
  );

  t.test(
    "nothing from outside, nothing inline, in no frame; forms of other sites claim nothing",
    async (t) => {
      const { headers, text } = await faucet.get("/");
      const policy = headers.get("Content-Security-Policy") ?? "";
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ]) {
        t.ok(policy.split("; ").includes(rule), rule);
      }
      t.notMatch(policy, /unsafe|\*|data:/);
      t.same(
        text.match(/(?:src|action|<link[^>]* href)="(?!\/[a-z])[^"]*"/g),
        null,
        "what the page loads and where it sends is the faucet's own",
      );
      const response = await fetch(`${faucet.url}/claim`, {
        method: "POST",
        headers: { "Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "cross-site" },
        body: new URLSearchParams({ address: next() }),
      });
      t.match(
        { status: response.status, json: await response.json() },
        { status: 403, json: { code: "forbidden" } },
      );
    },
  );

  t.test("what there is not is a page for people, a problem document for programs", async (t) => {
    for (const [path, says] of [
      ["/nothing", "There is no such page"],
      [`/claims/${"0".repeat(32)}`, "There is no such claim"],
    ] as const) {
      const asked = (accept: string) => fetch(faucet.url + path, { headers: { Accept: accept } });
      const page = await asked("text/html,*/*");
      t.equal(page.status, 404);
      t.match(await page.text(), `<h1>${says}</h1>`);
      t.match(page.headers.get("Vary"), "Accept, Accept-Language, Cookie");
      const program = await asked("*/*");
      t.match(program.headers.get("Content-Type"), "application/problem+json");
      t.match(await program.json(), { code: "not_found" });
    }
  });

  t.test("no page names a header, and each says whom to ask and what the wallet proxy is", async (t) => {
    for (const language of ["en", "id"]) {
      const { text, headers } = await faucet.get(`/?lang=${language}`);
      t.equal(headers.get("Content-Language"), language);
      t.match(headers.get("Set-Cookie"), `tollgate_language=${language};`);
      t.notMatch(text, /Idempotency-Key|Retry-After|Redis|\b1 seconds/);
      t.match(text, 'href="mailto:help@example.org"');
      t.match(text, "tollgate-wallet-proxy");
    }
  });

  t.test("looking an address up tells no more of the allowlist than claims do", async (t) => {
    const own = await startRedis(t);
    const bounded = await startFaucet(t, {
      ...{ redisUrl: own.url, upstream: anvil.url, allowlist: [{ address: generous, amount: "25" }] },
      change: (config) => ({ ...config, limits: { ...config.limits, refusals: 2 } }),
    });
    const look = async (address: string, headers: Record<string, string> = {}) =>
      (
        await fetch(`${bounded.url}/?address=${address}`, { headers: { Accept: "text/html", ...headers } })
      ).text();
    const embedded = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" };
    for (let asked = 0; asked < 4; asked += 1) {
      t.match(await look(generous), ">Claim 25 TEST<", "what is on the list costs nothing");
      t.match(
        await look(randomAddress(), embedded),
        ">Claim 10 TEST<",
        "what a page elsewhere embeds asks nothing",
      );
    }
    t.match(await look(randomAddress()), "is not on the faucet&#39;s allowlist");
    t.match(await look(randomAddress()), "is not on the faucet&#39;s allowlist");
    t.match(await look(generous), "Too many claims from your network address were refused.");
    t.match(await bounded.claim({ address: generous }), { status: 429 }, "and claims count with it");
  });

  t.test("what was typed is shown as text, whatever it is", async (t) => {
    const response = await fetch(`${faucet.url}/claim`, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" },
      body: new URLSearchParams({ address: `"><script>alert('x')</script>&` }),
    });
    const text = await response.text();
    t.equal(response.status, 400);
    t.ok(text.includes('value="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;"'));
    t.notOk(text.includes("<script>alert"));
  });
});

type OpenOptions = BrowserContextOptions & {
  /** One that only sets window.ethereum. */
  wallet?: { address?: string; error?: { code: number; message: string } };
  /** By EIP-6963. */
  announced?: readonly { name: string; address: string }[];
};

/** The page in a browser of its own, with a wallet in it or none. */
async function openPage(
  t: Test,
  {
    browser,
    faucet,
    wallet,
    announced = [],
    ...options
  }: OpenOptions & { browser: Browser; faucet: FaucetUnderTest },
): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(faucet.url)) problems.push(`asked ${request.url()}`);
  });
  if (wallet !== undefined) {
    await page.addInitScript(`(() => {
      window.asked = [];
      const wallet = ${JSON.stringify(wallet)};
      window.ethereum = { async request(call) {
        window.asked.push(call);
        if (wallet.error) throw wallet.error;
        return call.method === "eth_requestAccounts" ? [wallet.address] : null;
      } };
    })();`);
  }
  await page.addInitScript(`(() => {
    for (const { name, address } of ${JSON.stringify(announced)}) {
      const provider = { request: async ({ method }) => method === "eth_requestAccounts" ? [address] : null };
      const detail = Object.freeze({ info: { uuid: name, name, icon: "", rdns: "example.wallet" }, provider });
      addEventListener("eip6963:requestProvider", () =>
        dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })));
    }
  })();`);
  await page.goto(faucet.url);
  return { page, problems };
}

/** axe's findings, and a picture where PICTURES names a folder for them. */
async function look(t: Test, { page, name }: { page: Page; name: string }): Promise<void> {
  const folder = process.env["PICTURES"];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  await page.evaluate(axe);
  const violations = await page.evaluate(
    "axe.run().then((found) => found.violations.map(({ id, nodes }) => id + ' ' + nodes.map((node) => node.html).join(' ')))",
  );
  t.same(violations, [], name);
  t.equal(await page.evaluate(hiddenToTheRightPx), 0, `${name}: nothing is wider than the window`);
}
