import type { BrowserContextOptions } from "playwright-core";
import t, { type Test } from "tap";
import { startChromium } from "../../helpers/chromium.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { alice, bob, startWorld } from "../support/start-world.ts";

// Run in the page, as text: the browser's own names are none of this project's types.
const focused = "document.activeElement.id || document.activeElement.textContent";
const qrIsThere = "document.querySelector('img.qr').naturalWidth > 0";

t.setTimeout(180_000);
const browser = await startChromium(t);

t.test("the explorer in a browser", { skip: browser === undefined && "there is no chromium" }, async (t) => {
  if (browser === undefined) return;
  const { api, anvil, hashes } = await startWorld(t);
  /** A page of a browser that tells what it asked for, and what it had to complain of. */
  async function open(t: Test, options: BrowserContextOptions = {}) {
    const context = await browser?.newContext(options);
    if (context === undefined) throw new Error("there is no browser");
    t.teardown(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", ({ message }) => problems.push(message));
    page.on("console", (message) => {
      // A page that is a 404 is told of as one.
      if (message.type() === "error" && !message.text().includes("404")) problems.push(message.text());
    });
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== api.url) problems.push(`asked ${request.url()}`);
    });
    return { page, problems };
  }

  /** Waits until the one page that is open is told of blocks. */
  const untilListening = () =>
    waitFor("the page listens", async () =>
      /"liveClients": ?1\b/.test(await (await fetch(`${api.opsUrl}/status`)).text()),
    );

  t.test("without scripts one finds what one looks for, and loads a page again that changes", async (t) => {
    const { page, problems } = await open(t, { javaScriptEnabled: false });
    await page.goto(api.url);
    await page.getByRole("link", { name: "Load this page again" }).click();
    await page.waitForURL(`${api.url}/`);
    await page.getByPlaceholder("Block, transaction, address or name").fill("1");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("heading", { name: "Block 1" }).waitFor();
    t.same(problems, []);
  });

  t.test("new blocks are counted, and no row moves before one asks for it", async (t) => {
    const { page, problems } = await open(t);
    await page.goto(`${api.url}/`);
    const rows = page.locator("tbody th");
    const before = await rows.allInnerTexts();
    await untilListening();
    const from = Number(before[0]);
    await anvil.rpc("evm_mine");
    await page.getByRole("link", { name: "1 new block: show it" }).waitFor();
    await anvil.rpc("evm_mine");
    const link = page.getByRole("link", { name: "2 new blocks: show them" });
    await link.waitFor();
    t.strictSame(await rows.allInnerTexts(), before);
    t.equal(await page.locator("[data-live-height]").textContent(), String(from + 2), "the height is told");
    await waitFor("the index has it", async () =>
      (await api.get("/api/v1/blocks?limit=1")).text.includes(`"indexedBlock":${from + 2}`),
    );
    await link.click();
    await page.waitForURL(`${api.url}/`);
    await page
      .locator("tbody th", { hasText: String(from + 2) })
      .first()
      .waitFor();
    t.same(problems, []);
  });

  t.test("the page of a pending transaction shows it as soon as it is mined", async (t) => {
    const { page } = await open(t);
    const hash = await anvil.rpc("eth_sendTransaction", [{ from: alice, to: bob, value: "0x1" }]);
    await page.goto(`${api.url}/tx/${hash}`);
    await page.getByText("it is not in a block yet").waitFor();
    // A block that came before would be followed by no other here.
    await untilListening();
    await anvil.rpc("evm_mine");
    await page.getByText("Success").waitFor();
  });

  t.test(
    "requests are tried and queries typed in programs of this host, which ask nobody else",
    async (t) => {
      const { page, problems } = await open(t);
      await page.goto(`${api.url}/docs/try`);
      await page.getByRole("heading", { name: "The chain and its newest block" }).first().waitFor();
      await page.goto(`${api.url}/graphql`);
      await page.getByRole("button", { name: /Execute query/ }).click();
      await page.locator(".result-window").getByText("8845").waitFor();
      t.same(problems, []);
    },
  );

  t.test("keys: / searches, j and k walk through a list, arrows go from block to block", async (t) => {
    const { page } = await open(t);
    await page.goto(`${api.url}/blocks`);
    await page.keyboard.press("/");
    t.equal(await page.evaluate(focused), "q");
    await page.keyboard.type("jk/");
    t.equal(await page.locator("#q").inputValue(), "jk/", "what one types is typed");
    await page.goto(`${api.url}/blocks`);
    const rows = await page.locator("tbody th").allInnerTexts();
    for (const [key, index] of [
      ["j", 0],
      ["j", 1],
      ["k", 0],
      ["k", 0],
    ] as const) {
      await page.keyboard.press(key);
      t.equal(await page.evaluate(focused), rows[index]);
    }
    await page.locator(".scroll").first().focus();
    await page.keyboard.press("/");
    t.equal(await page.evaluate(focused), "q", "from a list, too");
    await page.goto(`${api.url}/block/1`);
    await page.keyboard.press("ArrowRight");
    await page.waitForURL("**/block/2");
    await page.keyboard.press("ArrowLeft");
    await page.waitForURL("**/block/1");
    await page.goBack();
    await page.waitForURL("**/block/2");
  });

  t.test("a value is copied whole, and a time is told both ways", async (t) => {
    const { page } = await open(t, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(`${api.url}/tx/${hashes.payment}`);
    await page.getByRole("button", { name: `Copy: ${hashes.payment}` }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    t.equal(await page.evaluate("navigator.clipboard.readText()"), hashes.payment);
    t.match(
      (await page.locator("dd time").textContent()) ?? "",
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(.+\)$/,
    );
  });

  t.test("a page that is not there yet comes by itself, and one that is not there stays", async (t) => {
    const { page } = await open(t);
    const next = 1 + Number(await anvil.rpc("eth_blockNumber"));
    await page.clock.install();
    await page.goto(`${api.url}/block/${next}`);
    await page.getByText("does not exist yet").waitFor();
    const asked = page.waitForResponse((response) => response.request().method() === "HEAD");
    await page.clock.runFor(5000);
    t.equal((await asked).status(), 404);
    await anvil.rpc("evm_mine");
    await page.clock.runFor(5000);
    await page.getByRole("heading", { name: `Block ${next}`, exact: true }).waitFor();
  });

  t.test("an address's QR code is loaded when it is looked at", async (t) => {
    const { page } = await open(t);
    await page.goto(`${api.url}/address/${alice}`);
    await page.getByText("QR code").click();
    await page.getByAltText(`QR code of ${alice}`).waitFor();
    await waitFor("the image is there", async () => await page.evaluate(qrIsThere));
  });
});
