import t from "tap";
import { merchants } from "../../../../scripts/pages/sites/merchant-sites.ts";
import { createBrowserWallet } from "../../../fakes/browser-wallet/browser-wallet.ts";
import { startChromium } from "../../../helpers/chromium.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startReceiver } from "../webhooks/support/start-receiver.ts";
import { openMerchantPage } from "./support/open-merchant-page.ts";
import { startMerchantSite } from "./support/start-merchant-site.ts";

t.setTimeout(240_000);
const browser = await startChromium(t);

t.test(
  "webhooks and settings in a browser",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    if (browser === undefined) return;
    const { url, anvil, client } = await startMerchantSite(t);
    const { alice } = merchants;
    const wallet = createBrowserWallet({
      ...{ name: "Amber Wallet", privateKey: alice.privateKey, rpcUrl: anvil.url },
    });
    const receiver = await startReceiver(t);

    t.test(
      "a webhook is bought with one prompt, its secret is shown once, it is tested, changed and sent again",
      async (t) => {
        const { page, problems } = await openMerchantPage(t, {
          ...{ browser, url, wallets: [wallet], acceptDownloads: true },
        });
        await page.goto(`${url}/merchant/webhooks`);
        await page.getByRole("button", { name: "Sign in with Amber Wallet" }).click();
        await page.getByRole("heading", { name: "Where shall we send to?" }).waitFor();
        await page.getByLabel("URL").fill(receiver.url);
        await page.getByRole("button", { name: "Go on to the payment" }).dblclick();
        await page.getByRole("heading", { name: "A webhook", exact: true }).waitFor();
        await page.getByText(receiver.url).waitFor();
        await page.getByRole("button", { name: "Pay 1 TEST" }).click();
        await page.getByRole("button", { name: "Save the URL and show the secret" }).click();
        t.equal(
          wallet.asked.filter(({ method }) => method === "eth_sendTransaction").length,
          1,
          "one prompt",
        );
        const secret = (await page.locator("#secret code").textContent()) ?? "";
        t.match(secret, /^whsec_/);
        const [file] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("link", { name: "Save as .env" }).click(),
        ]);
        const stream = await file.createReadStream();
        t.equal((await stream.toArray()).join(""), `SVC_WEBHOOK_SECRET=${secret}\n`);
        await page.reload();
        await page.getByRole("heading", { name: "Where events go" }).waitFor();
        t.notMatch(await page.content(), secret, "loaded again, it is gone");

        await page.getByRole("button", { name: "Send a test" }).dblclick();
        await page.getByText("The test arrived.").waitFor();
        t.equal(receiver.received.length, 1, "a double click sends one");
        receiver.answers((response) => {
          response.writeHead(500, { "Content-Type": "text/html" });
          response.end("<script>document.title='taken'</script><img src=//evil.example onerror=alert(1)>");
        });
        await page.getByRole("link", { name: "← Webhooks" }).click();
        await page.getByRole("button", { name: "Send a test" }).click();
        await page.getByText("The test did not arrive.").waitFor();
        await page.getByText("<script>document.title='taken'</script>").waitFor();
        t.not(await page.title(), "taken");
        receiver.answers((response) => response.writeHead(204).end());

        await page.getByRole("button", { name: "Send it again" }).click();
        await page.getByText("It is sent again.").waitFor();
        await waitFor("it has arrived again", () => receiver.received.length === 3);
        t.equal(receiver.received[2]?.body, receiver.received[1]?.body);
        await page.getByRole("link", { name: "← Webhooks" }).click();
        await page.getByRole("link", { name: "Change the secret" }).click();
        await page.getByRole("button", { name: "Make a new secret" }).dblclick();
        const next = (await page.locator("#secret code").textContent()) ?? "";
        t.match(next, /^whsec_/);
        t.not(next, secret);
        await page.goBack();
        await page.goForward();
        t.notMatch(await page.content(), next, "going back and forth, it is gone");
        await page.goto(`${url}/merchant/webhooks`);
        await page.getByText("Both secrets are good until").waitFor();
        await page.getByRole("button", { name: "End it now" }).click();
        await page.getByText("The old secret signs no more.").waitFor();
        await page.getByLabel("Since (Jakarta's time)").fill("2020-01-01T00:00");
        await page.getByRole("button", { name: "Send again" }).click();
        await page.getByText(/events? (?:is|are) sent again\./).waitFor();
        t.same(problems, []);
      },
    );

    t.test("a name is saved and shown as customers see it, in the reader's language", async (t) => {
      const { page, problems } = await openMerchantPage(t, { browser, url, locale: "id-ID" });
      await page.context().addCookies([{ ...(await client.signIn(alice)).cookie, url }]);
      await page.goto(`${url}/merchant/settings`);
      await page.getByLabel("Nama", { exact: true }).fill("  Toko   Sari ");
      await page.getByLabel("Kontak").fill("sari@toko.example");
      await page.getByLabel("Bahasa halaman pelanggan Anda").selectOption("id");
      await page.getByRole("button", { name: "Simpan" }).dblclick();
      await page.getByText("Pengaturan sudah disimpan.").waitFor();
      t.equal(await page.getByLabel("Nama", { exact: true }).inputValue(), "Toko Sari");
      const preview = page.locator(".preview");
      await preview.getByText("Toko Sari").waitFor();
      await preview.getByText(alice.address).waitFor();
      await preview.getByRole("link", { name: "sari@toko.example" }).waitFor();
      t.same(problems, []);
    });
  },
);
