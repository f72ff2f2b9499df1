import { z } from "zod";
import { copyable } from "../../../lib/web/elements/copyable.ts";
import { stepItems } from "../../../lib/web/elements/steps.ts";
import { facts, table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { bars } from "../elements/bars.ts";
import { pager } from "../elements/pager.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

const title = "Design";
const intro =
  "Every element of Tollgate's pages, as lib/web has it. This page is for development, and in English alone.";
const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const hash = `0x${"7a".repeat(32)}`;

/** Shows the people who make pages what there is to make them of. */
export const design = pageRoute({
  path: "/design",
  params: z.object({}),
  query: z.object({}),
  render: (context) => ({
    title,
    description: intro,
    main: html`<div class="intro"><h1>${title}</h1><p>${intro}</p></div>
${card("Colours", colours())}
<div class="cards">
<div class="column">
${card("Buttons", buttons(context.el))}
${card("Form", form())}
${card("Steps", steps())}
</div>
<div class="column">
${card("Facts in pairs", pairs(context))}
${card("States", states(context))}
${card("Notices", notices())}
</div>
</div>
<div class="tiles">${tiles()}</div>
${card("Facts", longFacts(context))}
${card("Table, tabs, filter, pager", lists(context))}
${card("Chart", chart())}
${card("More", more())}
<section class="message" role="status"><h2>There is no such page</h2><p>What stands in place of a page says what is the matter and where to go on.</p><p><a href="./">To the first page</a></p></section>`,
  }),
});

function card(name: string, content: Html): Html {
  return html`<section class="card"><h2>${name}</h2>
${content}
</section>`;
}

function colours(): Html {
  const names = [
    ...["ground", "surface", "line", "field", "text", "soft", "accent", "accent-strong", "on-accent"],
    ...["good", "bad"],
    ...Array.from({ length: 8 }, (_, index) => `proposer-${index}`),
  ];
  const swatches = names.map(
    (name) =>
      html`<li><svg width="32" height="20" aria-hidden="true"><rect width="32" height="20" rx="4" fill="var(--${name})" stroke="var(--line)"/></svg> <code>--${name}</code></li>`,
  );
  return html`<ul class="legend">${swatches}</ul>`;
}

function buttons({ to }: PageContext["el"]): Html {
  return html`<div class="actions"><button type="button">Claim 10 TEST</button> <button type="button" aria-busy="true" aria-disabled="true">Claiming…</button> <button type="button" class="quiet">Use my wallet</button> <a class="button" href="./">A link</a> <a class="button quiet" href="./">A quiet link</a></div>
<ul class="wallets"><li><button type="button" class="wallet"><img src="${to("icon.svg")}" alt=""><span>Sign in with a wallet</span></button></li></ul>`;
}

function form(): Html {
  return html`<form class="fields" action="./search">
<label for="sample">A field</label>
<input id="sample" name="q" placeholder="0x…" aria-describedby="sample-hint">
<p class="hint" id="sample-hint">What it takes.</p>
<label for="wrong">A field that is wrong</label>
<input id="wrong" value="0x12" aria-invalid="true" aria-describedby="wrong-error">
<p class="error" id="wrong-error">An address was expected: 0x and 40 hexadecimal digits.</p>
</form>`;
}

function steps(): Html {
  const names = ["Taken", "Signed", "Sent", "Confirmed"].map((name) => ({ key: name, name }));
  return html`<ol class="steps">${stepItems(names, "Sent")}</ol>
<p class="outcome">It comes with one of the next blocks.</p>
<p class="outcome" data-kind="good">The tokens have arrived.</p>
<p class="outcome" data-kind="bad">The claim was not paid.</p>`;
}

function pairs({ el }: PageContext): Html {
  return facts(
    [
      ["State", html`<span class="light" data-state="good" aria-hidden="true"></span> Open`],
      ["Holds", el.tokens("1000000000000000000000000")],
      ["Chain ID", copyable("8845", "8845 (0x228d)", "Chain ID")],
    ],
    { inPairs: true },
  );
}

function states({ el }: PageContext): Html {
  const lights = ["waiting", "good", "bad"].map(
    (state) => html`<span class="light" data-state="${state}" aria-hidden="true"></span> ${state}`,
  );
  return html`<p>${el.status("success")} · ${el.status("failed")} · ${el.status("pending")}</p>
<p>${lights}</p>
<p><span class="direction in">In</span> <span class="direction out">Out</span></p>`;
}

function notices(): Html {
  return html`<p class="note">Lists are complete up to block 7.</p>
<p class="alarm">The chain has stalled.</p>
<p class="empty">There is nothing here yet.</p>
<p class="soft">Said by the way.</p>`;
}

function tiles(): Html[] {
  return [
    ["Newest block", "74,565", "2 seconds ago"],
    ["Block time", "2 s", "Average of the last 100 blocks"],
    ["Gas price", "0 gwei", "Nobody pays for gas here"],
  ].map(
    ([name = "", value = "", more = ""]) =>
      html`<div class="tile"><p class="tile-name">${name}</p><p class="tile-value">${value}</p><p class="tile-more">${more}</p></div>`,
  );
}

function longFacts({ el, now }: PageContext): Html {
  return facts([
    ["Account", el.fullAddress(account)],
    ["Transaction", el.transactionLink(hash)],
    ["Bytes", el.bytes(hash)],
    ["Amount", el.tokens("1234567890000000000000")],
    ["Time", el.time(new Date(now()).toISOString().replace(/\.\d+/, ""))],
  ]);
}

function lists(context: PageContext): Html {
  const { el } = context;
  const rows = [3, 2, 1].map((number) => ({ number, gas: number * 21_000 }));
  return html`<nav class="tabs" aria-label="Tabs"><a href="./design" aria-current="page">Blocks</a> <a href="./design">Events</a></nav>
<form class="filter" action="./design"><label>From day <input type="date" name="from"></label> <button type="submit">Apply</button></form>
${table<(typeof rows)[number]>({
  caption: "Rows",
  rows,
  columns: [
    { title: "Block", cell: ({ number }) => el.blockLink(number) },
    { title: "Proposer", cell: () => el.addressLink(account) },
    { title: "Gas", number: true, cell: ({ gas }) => el.integer(gas) },
    { title: "Left out where it is narrow", secondary: true, cell: () => "–" },
  ],
})}
${pager(context, { path: "design", limit: 20, isFirst: true, nextCursor: "next" })}`;
}

function chart(): Html {
  const data = Array.from({ length: 40 }, (_, index) => ({
    value: 1 + ((index * 7) % 5),
    title: `Block ${index}`,
  }));
  return html`<figure><p class="chart-note">The last 40 blocks, oldest first</p>${bars({ label: "Seconds between blocks", data })}</figure>`;
}

function more(): Html {
  return html`<h3>A heading below</h3>
<p>A text with <a href="./">a link</a> and <code>code</code>.</p>
<details><summary>What can be opened</summary><pre class="raw" tabindex="0">${hash}</pre></details>`;
}
