import { network, walletConfiguration } from "../../lib/network.ts";
import { languageLinks } from "../../lib/web/elements/language-links.ts";
import { type Html, html } from "../../lib/web/html.ts";
import { pageShell } from "../../lib/web/page-shell.ts";
import { claimCard, recentCard } from "./claim-cards.ts";
import { networkCard, nowCard } from "./faucet-cards.ts";
import type { PageContent, View } from "./view.ts";

/** The faucet's one page: the form, the claim that it follows, how the faucet stands, and the network's data. */
export function renderPage(view: View, content: PageContent): string {
  const { texts, words, settings } = view;
  const { status, error, followed } = content;
  const { claim } = followed ?? {};
  const amount = words.tokens(settings.amount);
  const inWindow = status === undefined ? words.length(86_400) : words.length(status.limits.windowSeconds);
  const title =
    error !== undefined ? texts.refusedPage : claim === undefined ? texts.form.page : texts.claim.title;
  return shell(view, {
    title,
    main: html`<div class="intro">
        <h1>${texts.intro.title}</h1>
        <p>${texts.intro.text(amount, inWindow)}</p>
      </div>
      <div class="cards">
        <div class="column">
          ${formCard(view, content)}
          ${claimCard(view, followed)}
          ${recentCard(
            view,
            content.recent.filter(({ id }) => id !== claim?.id),
          )}
        </div>
        <div class="column">
          ${nowCard(view, status)}
          ${networkCard(view)}
        </div>
      </div>`,
  });
}

/** A page in place of the faucet's: there is no such thing, or something is away. */
export function renderMessage(
  view: View,
  { title, help, wayOn }: { title: string; help: string | Html; wayOn: { href: string; text: string } },
): string {
  return shell(view, {
    title,
    hasScript: false,
    main: html`<section class="message" id="message" role="status">
        <h1>${title}</h1>
        <p>${help}</p>
        <p><a href="${wayOn.href}">${wayOn.text}</a></p>
      </section>`,
  });
}

function shell(
  view: View,
  { title, hasScript = true, main }: { title: string; hasScript?: boolean; main: Html },
): string {
  const { texts, language, path, settings } = view;
  const { explorerUrl, walletRpcUrl, contact } = settings;
  const configuration = walletConfiguration({ rpcUrl: walletRpcUrl, explorerUrl });
  const { blockExplorerUrls, ...withoutExplorer } = configuration;
  const forWallets = explorerUrl === "" ? withoutExplorer : { ...withoutExplorer, blockExplorerUrls };
  return pageShell({
    language,
    title,
    hasScript,
    product: texts.product,
    bodyAttributes: html` data-network="${JSON.stringify(forWallets)}" data-words="${JSON.stringify(texts.words)}"`,
    top: html`<a class="skip" href="#main">${texts.skip}</a>`,
    main,
    foot: html`<footer class="foot">
      <p>${network.chainName} · ${texts.about}</p>
      ${contact === "" ? html`` : html`<p>${texts.contact} ${contactLink(contact)}</p>`}
      <p id="languages">${texts.language}: ${languageLinks({ language, root: "/", path })}</p>
    </footer>`,
  });
}

function contactLink(contact: string): Html {
  if (/^https?:\/\/\S+$/.test(contact)) return html`<a href="${contact}">${contact}</a>`;
  if (/^[^\s@:/?]+@[^\s@:/?]+$/.test(contact)) return html`<a href="mailto:${contact}">${contact}</a>`;
  return html`${contact}`;
}

function formCard(
  { texts, words, settings }: View,
  { address = "", error, amountWei = settings.amount }: PageContent,
): Html {
  const { form } = texts;
  const invalid = error === undefined ? html`` : html` aria-invalid="true"`;
  return html`<section class="card" aria-labelledby="form-title">
            <h2 id="form-title">${form.title}</h2>
            <form id="form" class="fields" method="post" action="/claim" novalidate>
              <label for="address">${form.address}</label>
              <input id="address" class="mono" name="address" value="${address}" placeholder="0x…" required spellcheck="false"
                autocomplete="off" autocapitalize="off" aria-describedby="address-hint error"${invalid}>
              <div class="elsewhere" aria-hidden="true">
                <label for="website">${form.trap}</label>
                <input id="website" name="website" tabindex="-1" autocomplete="off">
              </div>
              <p class="hint" id="address-hint">${form.hint}</p>
              <p class="error" id="error" role="alert">${error ?? ""}</p>
              <div class="actions">
                <button id="claim-button" type="submit" data-default="${form.submit(words.tokens(settings.amount))}">${form.submit(words.tokens(amountWei))}</button>
                <div id="use-wallet" class="wallets"></div>
              </div>
            </form>
          </section>`;
}
