import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createBrowserWallet, injectWallets } from "../fakes/browser-wallet/browser-wallet.ts";
import { startChromium } from "../helpers/chromium.ts";
import { runCommand } from "../helpers/run-command.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { startedDev } from "./dev-rig.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
/** Of the dev chain's accounts, the one that the README takes is not this one. */
const otherAccount = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

/** What the README says under a heading, on the ports of a test. */
function commandsUnder(heading: string, ports: { faucet: number; api: number }): string {
  const [, commands] = new RegExp(`## ${heading}\n[^#]*?\`\`\`sh\n([^\`]*)\`\`\``).exec(readme) ?? [];
  if (commands === undefined) throw new Error(`the README has no commands under ${heading}`);
  return commands.replaceAll(":4001/", `:${ports.faucet}/`).replaceAll(":4000/", `:${ports.api}/`);
}

t.setTimeout(240_000);
const browser = await startChromium(t);
const folder = testFolder(t);
symlinkSync(join(root, "docs"), join(folder, "docs"));
const dev = await startedDev(t, { folder });
const { api, faucet, wallet } = dev.ports;
const apiUrl = `http://127.0.0.1:${api}`;
const rpcUrl = `http://127.0.0.1:${wallet}`;

t.test("the README's way to a key, word for word: a claim, a sign-in, a purchase, a call", async (t) => {
  const commands = commandsUnder("A key of the developer API", { api, faucet });
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
