import type { FunctionFragment, ParamType } from "ethers/abi";
import { type Html, html } from "../../../lib/web/html.ts";
import type { Expected } from "../../contract-calls/read-argument.ts";
import type { TokenRow } from "../../read/token-lists.ts";
import { cut } from "../elements/cut.ts";
import { argumentText } from "../elements/revert-text.ts";
import type { PageContext } from "../page.ts";
import type { FunctionAnswer } from "./ask-function.ts";

/** Functions of a token that answer with an amount of it. */
const amounts: ReadonlySet<string> = new Set([
  "balanceOf(address)",
  "totalSupply()",
  "allowance(address,address)",
]);

/** A function's arguments as a form, which asks by a URL that can be passed on, and below it what was answered. */
export function functionForm(
  context: PageContext,
  {
    address,
    token,
    fragment,
    call = fragment.format(),
    id,
    values,
    answer,
  }: {
    address: string;
    /** What the index knows of this contract as a token. */
    token: TokenRow | undefined;
    fragment: FunctionFragment;
    /** How the URL names it. */
    call?: string;
    /** Begins the identifiers of its fields. */
    id: string;
    /** Arguments that were given, as texts. */
    values: readonly string[];
    answer: FunctionAnswer | undefined;
  },
): Html {
  const { texts, el } = context;
  const faults = answer !== undefined && "faults" in answer ? answer.faults : [];
  const fields = fragment.inputs.map((input, index) =>
    field(context, { input, id: `${id}-${index}`, value: values[index] ?? "", fault: faults[index] }),
  );
  return html`<form class="call fields" action="${el.to(`contract/${address}#call`)}">
<input type="hidden" name="call" value="${call}">
${fields}
<button type="submit">${texts.contract.ask}</button>
</form>
${answer === undefined ? html`` : answerOf(context, { fragment, token, answer })}`;
}

function field(
  { texts }: PageContext,
  { input, id, value, fault }: { input: ParamType; id: string; value: string; fault: Expected | undefined },
): Html {
  const { contract: words } = texts;
  const marks = fault === undefined ? html`` : html` aria-invalid="true" aria-describedby="${id}-fault"`;
  const told =
    fault === undefined ? html`` : html`<p class="error" id="${id}-fault">${faultText(texts, fault)}</p>`;
  return html`<label for="${id}">${input.name === "" ? words.unnamed : input.name} <code>${input.format("sighash")}</code></label>
<input id="${id}" name="argument" value="${value}" placeholder="${exampleOf(input)}" spellcheck="false" autocomplete="off" autocapitalize="off"${marks}>
${told}`;
}

function faultText({ contract: { faults } }: PageContext["texts"], fault: Expected): string {
  if (fault.expected === "integer") return faults.integer(String(fault.from), String(fault.to));
  if (fault.expected === "items") return faults.items(fault.count);
  if (fault.expected === "bytes")
    return fault.length === undefined ? faults.bytes : faults.bytesOf(fault.length);
  return faults[fault.expected];
}

/** What an argument looks like. */
function exampleOf(input: ParamType): string {
  if (input.isArray()) return `[${quoted(input.arrayChildren)}, …]`;
  if (input.isTuple()) return `[${input.components.map(quoted).join(", ")}]`;
  if (input.type === "bool") return "true";
  if (input.type === "string") return "abc";
  return /^u?int/.test(input.type) ? "123" : "0x…";
}

function quoted(input: ParamType): string {
  const example = exampleOf(input);
  return example.startsWith("[") || input.type === "bool" ? example : `"${example}"`;
}

function answerOf(
  context: PageContext,
  {
    fragment,
    token,
    answer,
  }: { fragment: FunctionFragment; token: TokenRow | undefined; answer: FunctionAnswer },
): Html {
  const { texts, el } = context;
  const { contract: words } = texts;
  if ("faults" in answer) return html`<p class="error" role="alert">${words.faulty}</p>`;
  if ("unanswered" in answer) return html`<p class="note" role="status">${words[answer.unanswered]}</p>`;
  const refused = (word: string, why: Html) =>
    html`<div class="answer" role="status"><p><span class="status failed"><span aria-hidden="true">✗</span> ${word}</span> ${why}</p></div>`;
  if ("failed" in answer) return refused(words.failed, html`<code class="long">${cut(answer.failed)}</code>`);
  if ("reverted" in answer) {
    const why =
      answer.reverted === undefined
        ? html`${texts.transaction.noReason}`
        : html`<code class="long">${cut(answer.reverted)}</code>`;
    return refused(words.reverted, why);
  }
  const { values, raw, block } = answer;
  const shown =
    values === undefined
      ? html`<p>${raw === "0x" ? words.nothing : words.undecodable}</p>`
      : html`<dl class="facts">${values.map((value) => html`<div><dt>${value.name === "" ? html`` : html`${value.name} `}<code>${value.type}</code></dt><dd>${shownValue(context, value)}${amountOf(context, { fragment, token, value })}</dd></div>`)}</dl>`;
  return html`<div class="answer" role="status">
<p class="soft">${words.answerAt} ${el.blockLink(block)}</p>
${shown}
<details><summary>${words.raw((raw.length - 2) / 2)}</summary><pre class="raw" tabindex="0">${cut(raw)}</pre></details>
</div>`;
}

function shownValue({ texts, el }: PageContext, { type, value }: { type: string; value: unknown }): Html {
  // A text that is not UTF-8, for example.
  if (value === null) return html`<span class="soft">${texts.contract.unreadable}</span>`;
  if (value === "") return html`<code>""</code>`;
  if (type === "address" && typeof value === "string") return el.fullAddress(value);
  const text = argumentText({ value });
  const shown = cut(text);
  return shown === text ? el.bytes(text) : html`<code class="long">${shown}</code>`;
}

/** The same in the token's own units. */
function amountOf(
  { el }: PageContext,
  {
    fragment,
    token,
    value: { value },
  }: { fragment: FunctionFragment; token: TokenRow | undefined; value: { value: unknown } },
): Html {
  const isAmount = token?.kind === "erc20" && amounts.has(fragment.format());
  if (!isAmount || token.decimals === null || typeof value !== "string") return html``;
  return html` <span class="soft">${el.units(value, token.decimals)} ${token.symbol ?? ""}</span>`;
}
