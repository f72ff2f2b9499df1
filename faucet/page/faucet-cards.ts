import { network } from "../../lib/network.ts";
import { copyable } from "../../lib/web/elements/copyable.ts";
import { facts } from "../../lib/web/elements/table.ts";
import { type Html, html } from "../../lib/web/html.ts";
import type { StatusView } from "../read-status.ts";
import type { View } from "./view.ts";

/** How the faucet stands; the script asks for it again and again. */
export function nowCard(view: View, status: StatusView | undefined): Html {
  const { texts } = view;
  return html`<section class="card" aria-labelledby="now-title">
            <h2 id="now-title">${texts.now.title}</h2>
            <div id="now">${nowFacts(view, status)}</div>
          </section>`;
}

function nowFacts({ texts: { now: texts }, words }: View, status: StatusView | undefined): Html {
  if (status === undefined) return html`<p class="alarm">${texts.away}</p>`;
  const { balance, claimsInWindow, limits, waiting } = status;
  const { says, isWell } = stateOf(texts, status);
  const light = html`<span class="light" data-state="${isWell ? "good" : "bad"}" aria-hidden="true"></span>`;
  const claims = texts.countOf(words.count(claimsInWindow), words.count(limits.overall));
  return facts(
    [
      [texts.state, html`<span id="state">${light} ${says}</span>`],
      [texts.holds, balance === null ? "–" : words.tokens(balance)],
      [texts.claims(words.length(limits.windowSeconds)), claims],
      [texts.waiting, words.count(waiting)],
    ],
    { inPairs: true },
  );
}

function stateOf(
  texts: View["texts"]["now"],
  { paused, balance, amount, paymentsWait, chainAnswers }: StatusView,
): { says: string; isWell: boolean } {
  if (paused) return { says: texts.paused, isWell: false };
  if (!chainAnswers) return { says: texts.silent, isWell: false };
  if (paymentsWait !== null) return { says: texts.feeTooHigh, isWell: false };
  if (balance === null) return { says: texts.starting, isWell: true };
  if (BigInt(balance) < BigInt(amount)) return { says: texts.empty, isWell: false };
  return { says: texts.open, isWell: true };
}

export function networkCard({ texts: { network: texts }, settings }: View): Html {
  const { chainName, chainId } = network;
  const { walletRpcUrl, walletProxyGuide } = settings;
  const guide =
    walletProxyGuide === ""
      ? html`${texts.proxyFrom}`
      : html`<a href="${walletProxyGuide}" target="_blank" rel="noopener">${texts.proxyGuide}</a>`;
  return html`<section class="card" aria-labelledby="network-title">
            <h2 id="network-title">${texts.title}</h2>
            ${facts(
              [
                [texts.name, chainName],
                [
                  texts.chainId,
                  copyable(String(chainId), `${chainId} (0x${chainId.toString(16)})`, texts.chainId),
                ],
                [
                  texts.rpcUrl,
                  copyable(
                    walletRpcUrl,
                    html`<a class="mono" href="${walletRpcUrl}" target="_blank" rel="noopener">${walletRpcUrl}</a>`,
                    texts.rpcUrl,
                  ),
                ],
              ],
              { inPairs: true },
            )}
            <p class="hint">${texts.proxy}</p>
            <p class="hint">${guide}</p>
            <div class="actions" id="add-network"></div>
            <p class="hint" id="network-outcome" role="status"></p>
          </section>`;
}
