import { getAddress, isAddress } from "ethers/address";
import { network, walletConfiguration } from "../../../../lib/network.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import type { Page } from "../../../explorer/page.ts";
import type { MerchantContext } from "../merchant-page.ts";
import { packageCards } from "./packages.ts";

/**
 * What stands in place of every page for who has not signed in. With an address it tells how the message has to write it
 * (EIP-55), which wallets often do not: no script of ours hashes.
 */
export function signInPage(
  context: MerchantContext,
  {
    address,
    note,
    next,
    status,
  }: {
    address?: string | undefined;
    note?: string | undefined;
    /** Where to go on from, from the root. */
    next: string;
    status: number;
  },
): Page {
  const { words } = context;
  const { signIn } = words;
  return {
    title: words.title,
    description: words.intro,
    status,
    main: html`<div class="intro"><h1>${words.title}</h1><p>${words.intro}</p></div>
<div class="cards">
<section class="card" id="sign-in" aria-labelledby="sign-in-title"${signInData(context, { address, next })}>
<h2 id="sign-in-title">${signIn.title}</h2>
${note === undefined ? html`` : html`<p class="alarm" role="status">${note}</p>`}
<p>${signIn.how}</p>
<noscript><p class="note">${signIn.noScripts}</p></noscript>
<p class="hint" id="wallets-text" role="status" hidden>${signIn.looking}</p>
<ul class="wallets" id="wallets"></ul>
<p class="outcome" id="outcome" role="status"></p>
<p class="note" id="other-host" hidden>${signIn.otherHost} <a></a></p>
</section>
${withoutWallet(context)}
</div>
${packageCards(context)}`,
  };
}

/** What the script needs: where signing in works, how the address is written, and the network as a wallet takes it. */
function signInData(
  context: MerchantContext,
  { address, next }: { address: string | undefined; next: string },
): Html {
  const lower = address?.toLowerCase() ?? "";
  const checksummed = isAddress(lower) ? getAddress(lower) : "";
  return html` data-origin="${new URL(context.settings.publicUrl).origin}" data-address="${checksummed}" data-next="${context.el.to(next)}"${networkData(context)}`;
}

/** What a wallet is told of the network; without a wallet proxy there is no address to tell it. */
export function networkData({ settings: { walletProxyUrl, publicUrl } }: MerchantContext): Html {
  const configuration = walletConfiguration({ rpcUrl: walletProxyUrl, explorerUrl: publicUrl });
  const rpcUrls = walletProxyUrl === "" ? [] : configuration.rpcUrls;
  return html` data-network="${JSON.stringify({ ...configuration, rpcUrls })}"`;
}

function withoutWallet({
  words: { signIn },
  el,
  settings: { walletProxyUrl, faucetUrl },
}: MerchantContext): Html {
  const { none } = signIn;
  const step = (href: string, before: string, text: string, help: string) =>
    href === "" ? html`<li>${help}</li>` : html`<li>${before} <a href="${href}">${text}</a>.</li>`;
  return html`<section class="card" aria-labelledby="no-wallet">
<h2 id="no-wallet">${none.title}</h2>
<ol class="todo">
<li>${none.wallet}</li>
${step(walletProxyUrl, none.network, none.networkLink, none.networkHelp)}
${step(faucetUrl, none.tokens, none.tokensLink, none.tokensHelp)}
</ol>
<p>${none.scripts} ${el.link("docs", none.scriptsLink)}.</p>
<p class="hint">${network.chainName}, ${network.nativeCurrency.symbol}</p>
</section>`;
}
