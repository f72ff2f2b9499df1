import { formatTokens } from "../../lib/config/token-amount.ts";
import { network, walletConfiguration } from "../../lib/network.ts";
import { type Html, html } from "../../lib/web/html.ts";
import { pageShell } from "../../lib/web/page-shell.ts";
import type { ClaimView } from "../http/claim-view.ts";
import type { StatusView } from "../read-status.ts";

export type PageContent = {
  status: StatusView;
  walletRpcUrl: string;
  explorerUrl: string;
  /** What was typed, to be typed no second time. */
  address?: string | undefined;
  /** Why the claim was refused, or what else went wrong. */
  error?: string | undefined;
  claim?: ClaimView | undefined;
};

const symbol = network.nativeCurrency.symbol;
const refreshSeconds = 2;

/** The faucet's one page: the form, the claim that it follows, how the faucet stands, and the network's data. */
export function renderPage(content: PageContent): string {
  const { status, claim, explorerUrl, walletRpcUrl } = content;
  const configuration = walletConfiguration({ rpcUrl: walletRpcUrl, explorerUrl });
  const { blockExplorerUrls, ...withoutExplorer } = configuration;
  const forWallets = explorerUrl === "" ? withoutExplorer : { ...withoutExplorer, blockExplorerUrls };
  const isOpen = claim !== undefined && claim.status !== "confirmed" && claim.status !== "refused";
  return pageShell({
    title: titleOf(content),
    product: "faucet",
    head: isOpen
      ? html`<noscript><meta http-equiv="refresh" content="${String(refreshSeconds)}"></noscript>`
      : html``,
    bodyAttributes: html` data-network="${JSON.stringify(forWallets)}" data-explorer="${explorerUrl}"`,
    main: html`      <div class="intro">
        <h1>Test tokens for your wallet</h1>
        <p>
          ${inTokens(status.amount)} for each address on the network's allowlist, once in ${lengthOf(status.limits.windowSeconds)}. They are worth
          nothing outside the test network.
        </p>
      </div>
      <div class="cards">
        <div class="column">
          ${formCard(content)}
          ${claimCard({ claim, explorerUrl })}
        </div>
        <div class="column">
          ${statusCard(status)}
          ${networkCard(walletRpcUrl)}
        </div>
      </div>`,
  });
}

function titleOf({ error, claim }: PageContent): string {
  if (error !== undefined) return "The claim was refused";
  return claim === undefined ? "Claim test tokens" : "Your claim";
}

function formCard({ status, address = "", error = "" }: PageContent): Html {
  return html`<section class="card" aria-labelledby="form-title">
            <h2 id="form-title">Claim</h2>
            <form id="form" method="post" action="/claim" novalidate>
              <label for="address">Your address</label>
              <input id="address" name="address" value="${address}" placeholder="0x…" required spellcheck="false"
                autocomplete="off" autocapitalize="off" aria-describedby="address-hint error"${error === "" ? "" : html` aria-invalid="true"`}>
              <div class="elsewhere" aria-hidden="true">
                <label for="website">Leave this empty</label>
                <input id="website" name="website" tabindex="-1" autocomplete="off">
              </div>
              <p class="hint" id="address-hint">0x and 40 digits, as your wallet shows it.</p>
              <p class="error" id="error" role="alert">${error}</p>
              <div class="actions">
                <button id="claim-button" type="submit">Claim ${inTokens(status.amount)}</button>
                <button id="use-wallet" type="button" class="quiet" hidden>Use my wallet</button>
              </div>
            </form>
          </section>`;
}

/** A step of a claim: its name, and what is said when it was reached. */
const steps = [
  { status: "received", name: "Taken", says: "Your claim was taken and waits for its turn." },
  { status: "signed", name: "Signed", says: "The payment is signed and on its way to the network." },
  {
    status: "broadcast",
    name: "Sent",
    says: "The network has the payment; it comes with one of the next blocks.",
  },
  { status: "confirmed", name: "Confirmed", says: "The tokens have arrived." },
] as const;

function claimCard({ claim, explorerUrl }: { claim: ClaimView | undefined; explorerUrl: string }): Html {
  const reached = steps.findIndex(({ status }) => status === claim?.status);
  const kind = claim?.status === "confirmed" ? "good" : claim?.status === "refused" ? "bad" : "";
  const says = claim?.status === "refused" ? refusedText(claim) : (steps[reached]?.says ?? "");
  return html`<section class="card" id="claim" aria-labelledby="claim-title" data-id="${claim?.id ?? ""}" data-status="${claim?.status ?? ""}"${claim === undefined ? html` hidden` : ""}>
            <h2 id="claim-title" tabindex="-1">Your claim</h2>
            <ol class="steps">
              ${steps.map(
                ({ status, name, says: text }, index) =>
                  html`<li data-step="${status}" data-says="${text}" data-state="${stateOf(index, reached)}">${name}</li>`,
              )}
            </ol>
            <p class="outcome" id="outcome" role="status" data-kind="${kind}">${says}</p>
            <p class="hint" id="transaction">${transactionLine({ claim, explorerUrl })}</p>
          </section>`;
}

function stateOf(index: number, reached: number): "done" | "now" | "todo" {
  const isLast = reached === steps.length - 1;
  if (index < reached || (isLast && index === reached)) return "done";
  return index === reached ? "now" : "todo";
}

function refusedText({ reason = "No reason is known" }: ClaimView): string {
  return `The claim was not paid: ${reason}. It does not count in any limit.`;
}

function transactionLine({
  claim,
  explorerUrl,
}: {
  claim: ClaimView | undefined;
  explorerUrl: string;
}): Html {
  if (claim === undefined || claim.txHash === null) return html``;
  const text = html`Transaction <span class="hash">${claim.txHash}</span>`;
  return explorerUrl === ""
    ? text
    : html`<a href="${explorerUrl.replace(/\/$/, "")}/tx/${claim.txHash}">${text}</a>`;
}

function statusCard(status: StatusView): Html {
  const { balance, claimsInWindow, limits, waiting } = status;
  return html`<section class="card" aria-labelledby="status-title">
            <h2 id="status-title">The faucet now</h2>
            <dl>
              <div><dt>State</dt><dd>${stateInWords(status)}</dd></div>
              <div><dt>Holds</dt><dd>${balance === null ? "–" : inTokens(balance)}</dd></div>
              <div><dt>Claims in ${lengthOf(limits.windowSeconds)}</dt><dd>${count(claimsInWindow)} of ${count(limits.overall)}</dd></div>
              <div><dt>Waiting</dt><dd>${count(waiting)}</dd></div>
            </dl>
          </section>`;
}

function stateInWords({ paused, balance, amount, paymentsWait }: StatusView): string {
  if (paused) return "Paused by its operators";
  if (paymentsWait !== null) return "Claims wait: the network's fee is too high at the moment";
  if (balance === null) return "Looking at the chain";
  return BigInt(balance) < BigInt(amount) ? "Empty until it is refilled" : "Open";
}

function networkCard(walletRpcUrl: string): Html {
  const { chainName, chainId } = network;
  return html`<section class="card" aria-labelledby="network-title">
            <h2 id="network-title">The network</h2>
            <dl>
              <div><dt>Name</dt><dd>${chainName}</dd></div>
              <div><dt>Chain ID</dt><dd>${String(chainId)} (0x${chainId.toString(16)})</dd></div>
              <div><dt>RPC URL for wallets</dt><dd class="code">${walletRpcUrl}</dd></div>
            </dl>
            <div class="actions">
              <button id="add-network" type="button" class="quiet" hidden>Add the network to my wallet</button>
            </div>
            <p class="hint" id="network-outcome" role="status"></p>
          </section>`;
}

/** `1,000` */
function count(value: number): string {
  return value.toLocaleString("en-US");
}

function inTokens(wei: string): string {
  return `${formatTokens(wei)} ${symbol}`;
}

/** A length of time in words: `24 hours`, `90 seconds`. */
export function lengthOf(seconds: number): string {
  const [size, unit] = (
    [
      [3600, "hour"],
      [60, "minute"],
      [1, "second"],
    ] as const
  ).find(([length]) => seconds >= 2 * length || (seconds >= length && length === 1)) ?? [1, "second"];
  const count = Math.ceil(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
