import { network, type WalletConfiguration } from "../../lib/network.ts";
import { copyable } from "../../lib/web/elements/copyable.ts";
import { languageLinks } from "../../lib/web/elements/language-links.ts";
import { facts } from "../../lib/web/elements/table.ts";
import { type Html, html } from "../../lib/web/html.ts";
import type { Language } from "../../lib/web/languages.ts";
import { pageShell } from "../../lib/web/page-shell.ts";
import type { Texts } from "./page/texts/en.ts";
import { languages } from "./page/texts/languages.ts";

/** Where the page leads to, and what it tells wallets. */
export type PageSettings = {
  configuration: WalletConfiguration;
  explorerUrl: string;
  /** Empty: there is no link. */
  faucetUrl: string;
};

/** The page of one language. What needs scripts is hidden until they come. */
export function renderPage(language: Language, settings: PageSettings): string {
  const texts = languages[language];
  return pageShell({
    language,
    title: texts.page,
    product: texts.product,
    bodyAttributes: html` data-network="${JSON.stringify(settings.configuration)}" data-words="${JSON.stringify(texts.words)}"`,
    top: html`<a class="skip" href="#main">${texts.skip}</a>`,
    main: html`<div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.intro}</p>
        <noscript><p>${texts.noScripts}</p></noscript>
      </div>
      <div class="cards" id="live" hidden>
        ${walletCard(texts, settings)}
        ${statusCard(texts)}
      </div>
      ${valuesCard(texts, settings)}`,
    foot: html`<footer class="foot">
      <p>${network.chainName}</p>
      <p>${texts.language}: ${languageLinks({ language, root: "/", path: "" })}</p>
    </footer>`,
  });
}

function walletCard({ wallet, next }: Texts, { explorerUrl, faucetUrl }: PageSettings): Html {
  const tokens =
    faucetUrl === ""
      ? html``
      : html`<a class="button" href="${faucetUrl}" target="_blank" rel="noopener">${next.tokens}</a>`;
  return html`<section class="card" aria-labelledby="wallets-title">
          <h2 id="wallets-title">${wallet.title}</h2>
          <p id="wallets-text">${wallet.looking}</p>
          <ul id="wallets" class="wallets"></ul>
          <p id="outcome" class="outcome" role="status"></p>
          <div id="next" class="actions" hidden>
            ${tokens}
            <a class="button quiet" href="${explorerUrl}" target="_blank" rel="noopener">${next.explorer}</a>
          </div>
        </section>`;
}

function statusCard({ status }: Texts): Html {
  return html`<section class="card" aria-labelledby="status-title">
          <h2 id="status-title">${status.title}</h2>
          <p class="now"><span id="light" class="light" data-state="waiting" aria-hidden="true"></span>
            <span id="status-text" role="status">${status.asking}</span></p>
          <div class="figure"><span class="soft">${status.block}</span><strong id="block">–</strong></div>
          ${facts([[status.chainId, html`<span id="chain">–</span>`]], { inPairs: true })}
        </section>`;
}

function valuesCard({ values }: Texts, { configuration, explorerUrl, faucetUrl }: PageSettings): Html {
  const { chainId, chainName, nativeCurrency, rpcUrls, blockExplorerUrls } = configuration;
  const rows = [
    [values.chainName, chainName],
    [values.rpcUrl, rpcUrls.join(" ")],
    [values.chainId, String(Number(chainId))],
    [values.chainIdHex, chainId],
    [values.symbol, nativeCurrency.symbol],
    [values.decimals, String(nativeCurrency.decimals)],
    [values.explorerUrl, blockExplorerUrls.join(" ")],
  ] as const;
  const shown = rows.map(
    ([name, value]) => [name, copyable(value, html`<span class="mono">${value}</span>`, name)] as const,
  );
  const tokens =
    faucetUrl === ""
      ? html``
      : html`<a href="${faucetUrl}" target="_blank" rel="noopener">${values.tokens}</a>`;
  return html`<section class="card" aria-labelledby="values-title">
        <h2 id="values-title">${values.title}</h2>
        <p>${values.intro}</p>
        ${facts(shown)}
        <div class="more">
          <button id="copy-json" type="button" class="quiet" data-name="${values.all}" hidden></button>
          <a href="/network.json">network.json</a>
          <a href="${explorerUrl}">${values.explorer}</a>
          ${tokens}
        </div>
      </section>`;
}
