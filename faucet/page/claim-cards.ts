import { copyable } from "../../lib/web/elements/copyable.ts";
import { stepItems } from "../../lib/web/elements/steps.ts";
import { facts } from "../../lib/web/elements/table.ts";
import { type Html, html } from "../../lib/web/html.ts";
import type { Claim } from "../claims/claim.ts";
import type { FollowedClaim, View } from "./view.ts";
import { short } from "./words.ts";

const reached = ["received", "signed", "broadcast", "confirmed"] as const;

/** A claim's way, and what came of it. It is there without a claim too, for the script to fill. */
export function claimCard(view: View, followed: FollowedClaim | undefined): Html {
  const { texts } = view;
  const { claim } = followed ?? {};
  const kind = claim?.status === "confirmed" ? "good" : claim?.status === "refused" ? "bad" : "";
  const hidden = claim === undefined ? html` hidden` : html``;
  return html`<section class="card" id="claim" aria-labelledby="claim-title" data-id="${claim?.id ?? ""}" data-status="${claim?.status ?? ""}" data-address="${claim?.address ?? ""}"${hidden}>
            <h2 id="claim-title" tabindex="-1">${texts.claim.title}</h2>
            <p class="sum" id="sum">${claim === undefined ? "" : sumOf(view, claim)}</p>
            <ol class="steps" id="steps">
              ${steps(view, claim)}
            </ol>
            <p class="outcome" id="outcome" role="status" data-kind="${kind}">${claim === undefined ? "" : outcomeOf(view, claim)}</p>
            ${claim === undefined || kind !== "" ? html`` : html`<noscript><p><a href="/claims/${claim.id}">${texts.claim.again}</a></p></noscript>`}
            <div id="claim-facts">${followed === undefined ? "" : claimFacts(view, followed)}</div>
          </section>`;
}

function steps({ texts }: View, claim: Claim | undefined): Html[] {
  const named = reached.map((key) => ({ key, name: texts.claim.steps[key].name }));
  return stepItems(named, claim?.status);
}

/** `10 TEST → 0xC355…3ffb` */
function sumOf({ words, texts }: View, { amountWei, address }: Claim): Html {
  const recipient = html`<span class="mono" title="${address}">${short(address)}</span>`;
  return html`${words.tokens(amountWei)} <span aria-hidden="true">→</span> ${copyable(address, recipient, texts.claim.recipient)}`;
}

function outcomeOf({ texts: { claim: texts } }: View, { status, reason }: Claim): string {
  if (status !== "refused") return texts.steps[status].says;
  const known: Readonly<Record<string, string>> = texts.reasons;
  return texts.refused(reason === undefined ? texts.unknownReason : (known[reason] ?? reason));
}

function claimFacts(view: View, { claim, balanceWei, nextAtMs }: FollowedClaim): Html {
  const { texts, words, settings } = view;
  const { txHash, status } = claim;
  const rows: [string, Html][] = [];
  if (balanceWei !== undefined) rows.push([texts.claim.balance, html`${words.tokens(balanceWei)}`]);
  if (status === "confirmed") {
    const next = nextAtMs === undefined ? html`${texts.claim.nextNow}` : words.moment(nextAtMs);
    rows.push([texts.claim.next, next]);
  }
  if (txHash !== undefined) {
    const digits = html`<span class="mono">${txHash}</span>`;
    const explorer = settings.explorerUrl.replace(/\/$/, "");
    const shown =
      explorer === ""
        ? digits
        : html`<a href="${explorer}/tx/${txHash}" target="_blank" rel="noopener">${digits}</a>`;
    rows.push([texts.claim.transaction, copyable(txHash, shown, texts.claim.transaction)]);
  }
  return rows.length === 0 ? html`` : facts(rows);
}

/** The claims of this browser, by a cookie. */
export function recentCard({ texts, words }: View, recent: readonly Claim[]): Html {
  const rows = recent.map(
    ({ id, amountWei, address, status, createdAtMs }) =>
      html`<li><a href="/claims/${id}">${words.tokens(amountWei)} → <span class="mono" title="${address}">${short(address)}</span></a> <span class="soft">${texts.recent.status[status]} · ${words.moment(createdAtMs)}</span></li>`,
  );
  const hidden = recent.length === 0 ? html` hidden` : html``;
  return html`<section class="card" id="recent" aria-labelledby="recent-title"${hidden}>
            <h2 id="recent-title">${texts.recent.title}</h2>
            <p class="hint">${texts.recent.hint}</p>
            <ul class="recent">${rows}</ul>
          </section>`;
}
