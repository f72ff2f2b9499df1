import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JsonRpcProvider, Wallet } from "ethers";
import t, { type Test } from "tap";
import { z } from "zod";
import { type InvoiceRecord, invoiceRecord } from "../../api/merchant/invoices/invoice-record.ts";
import { runChild } from "../../scripts/processes/run-child.ts";
import { createBrowserWallet, injectWallets } from "../fakes/browser-wallet/browser-wallet.ts";
import { startChromium } from "../helpers/chromium.ts";
import { runCommand } from "../helpers/run-command.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { startedDev } from "./dev-rig.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
/** Of the dev chain's accounts, the one that the README takes is not this one. */
const otherAccount = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

/** What the README says under a heading, block by block, on the ports of a test. */
function commandsUnder(heading: string, ports: { faucet: number; api: number }): string[] {
  const [, section = ""] = new RegExp(`\n## ${heading}\n([\\s\\S]*?)\n## `).exec(readme) ?? [];
  const blocks = [...section.matchAll(/```sh\n([^`]*)```/g)].map(([, commands = ""]) => commands);
  if (blocks.length === 0) throw new Error(`the README has no commands under ${heading}`);
  return blocks.map((commands) =>
    commands.replaceAll(":4001/", `:${ports.faucet}/`).replaceAll(":4000/", `:${ports.api}/`),
  );
}

t.setTimeout(240_000);
const browser = await startChromium(t);
const folder = testFolder(t);
for (const name of ["docs", "scripts", "package.json"]) symlinkSync(join(root, name), join(folder, name));
const dev = await startedDev(t, { folder });
const { api, faucet, wallet } = dev.ports;
const apiUrl = `http://127.0.0.1:${api}`;
const rpcUrl = `http://127.0.0.1:${wallet}`;

t.test("the README's way to a key, word for word: a claim, a sign-in, a purchase, a call", async (t) => {
  const [commands] = commandsUnder("A key of the developer API", { api, faucet });
  const { code, lines } = await runCommand(t, {
    program: "sh",
    args: ["-euc", `cd '${folder}'\n${commands}`],
    env: { ...process.env, API: apiUrl, RPC: rpcUrl },
  });
  const printed = lines.join("\n");
  t.equal(code, 0, printed);
  t.match(printed, /"claim":\{"id":"[0-9a-f]{32}"/);
  for (const step of ["signed in as 0x7099", "100 TEST", "paid by 0x", "key svc_dev_"]) {
    t.match(printed, step);
  }
  t.match(printed, '"wallet":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"');
  t.match(printed, '"keys":{"active":1,"max":5}');
  const kept = readFileSync(join(folder, ".data/shop.env"), "utf8");
  t.match(kept, /^SVC_DEV_KEY=svc_dev_[0-9A-Za-z]+\n$/);
});

t.test(
  "its way to a paid invoice: a terminal that listens, an invoice, a payment in a browser",
  async (t) => {
    const [listening = "", creating = ""] = commandsUnder("An invoice, paid", { api, faucet });
    const heard: string[] = [];
    const listener = await runChild({
      name: "listen",
      program: "sh",
      // Its API is where that of the README is not.
      args: ["-euc", `cd '${folder}'\n${listening.replace("listen", `listen --api ${apiUrl}`)}`],
      env: { ...process.env, NODE_OPTIONS: "" },
      onLine: (line) => heard.push(line),
    });
    if ("failed" in listener) throw new Error(listener.failed);
    t.teardown(() => listener.running() && listener.kill());
    await waitFor("it listens", () => {
      if (!listener.running()) throw new Error(heard.join("\n"));
      return heard.some((line) => line.startsWith("Listening"));
    });
    const { code, lines } = await runCommand(t, {
      program: "sh",
      args: ["-euc", `cd '${folder}'\n. .data/shop.env\n${creating}`],
    });
    t.equal(code, 0, lines.join("\n"));
    const { invoice } = z.object({ invoice: invoiceRecord }).parse(JSON.parse(lines.join("")));
    t.match(invoice, { amountIdr: 150_000, customerLabel: "Ibu Sari", amount: "10" });
    await payInvoice(t, invoice);
    const told = (type: string) => heard.find((line) => new RegExp(`^[0-9:]{8} +\\d+ +${type}`).test(line));
    await waitFor("both are heard of", () => told("payment\\.completed") && told("invoice\\.paid"));
    const bodies = heard.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    t.match(
      bodies.find(({ type }) => type === "invoice.paid"),
      { data: { invoice: { id: invoice.id, state: "paid", customerLabel: "Ibu Sari" } } },
    );
  },
);

/** As a customer does: with a wallet in a browser; where there is none, by a plain transfer. */
async function payInvoice(t: Test, invoice: InvoiceRecord): Promise<void> {
  const context = await browser?.newContext();
  if (context === undefined) {
    const provider = new JsonRpcProvider(rpcUrl);
    t.teardown(() => provider.destroy());
    const payer = new Wallet(otherAccount, provider);
    await payer.sendTransaction({ to: invoice.depositAddress, value: BigInt(invoice.amountWei) });
    return;
  }
  t.teardown(() => context.close());
  await injectWallets(context, [
    createBrowserWallet({ name: "Amber Wallet", privateKey: otherAccount, rpcUrl }),
  ]);
  const page = await context.newPage();
  await page.goto(invoice.payUrl);
  await page.getByRole("button", { name: /10 TEST/ }).click();
}

t.test(
  "a browser buys one as well: its wallet signs, and pays through the wallet proxy and the gateway",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    const context = await browser?.newContext();
    if (context === undefined) return;
    t.teardown(() => context.close());
    const amber = createBrowserWallet({ name: "Amber Wallet", privateKey: otherAccount, rpcUrl });
    await injectWallets(context, [amber]);
    const page = await context.newPage();
    await page.goto(`${apiUrl}/merchant`);
    await page.getByRole("button", { name: "Sign in with Amber Wallet" }).click();
    await page.getByRole("link", { name: "Buy a key" }).first().click();
    await page.getByRole("button", { name: "Go on to the payment" }).click();
    await page.getByRole("button", { name: "Pay 100 TEST" }).click();
    await page.getByRole("button", { name: "Show the key" }).click();
    t.match(await page.locator("#secret code").textContent(), /^svc_dev_[0-9A-Za-z]+$/);
    t.match(amber.asked.find(({ method }) => method === "wallet_addEthereumChain")?.params, [
      { rpcUrls: [`${rpcUrl}/`], blockExplorerUrls: [apiUrl] },
    ]);
  },
);
