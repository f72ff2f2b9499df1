import type { FunctionFragment, Interface, ParamType } from "ethers/abi";
import { z } from "zod";
import { isPostgresFailure } from "../../../lib/postgres/postgres-failure.ts";
import { facts } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { readSignature, signatureLengthMax } from "../../contract-calls/read-signature.ts";
import { standardAbi, standardOfCode, type TokenStandard } from "../../contract-calls/token-standards.ts";
import { readToken, type TokenRow } from "../../read/token-lists.ts";
import type { AccountRecord } from "../../records/transaction.ts";
import { accountAddress } from "../../rest/parameters.ts";
import { askFunction, type FunctionAnswer } from "../contract/ask-function.ts";
import { functionForm } from "../contract/function-form.ts";
import { errorPage } from "../error-pages.ts";
import type { PageContext } from "../page.ts";
import { pageRoute } from "../page-route.ts";

/** What a call asks of a validator, against the page that shows it. */
const callCost = 5;

const query = z.object({
  /** A function: of the ABI by its signature, or as somebody has typed it. */
  call: z.string().max(signatureLengthMax).optional(),
  argument: z
    .union([z.string().transform((one) => [one]), z.array(z.string()).max(64)])
    .optional()
    .transform((given) => given ?? []),
});
type Query = z.output<typeof query>;

export const contract = pageRoute({
  path: "/contract/:address",
  entry: "contracts",
  params: z.object({ address: accountAddress }),
  query,
  cost: ({ call }) => (call === undefined ? 1 : callCost),
  invalid(context) {
    const { invalid, invalidHelp } = context.texts.address;
    return errorPage(context, { title: invalid, help: invalidHelp, status: 404 });
  },
  async render(context, { params: { address }, query: asked }) {
    const { texts, el, read } = context;
    const { contract: words } = texts;
    const [record, code, token] = await Promise.all([
      read.account(address),
      read.code(address),
      tokenOf(context, address),
    ]);
    if (!record.isContract) {
      return errorPage(context, {
        title: words.noCode,
        help: words.noCodeHelp,
        status: 404,
        wayOn: { path: `address/${address}`, text: texts.address.account },
      });
    }
    const standard = standardFor(token, code);
    const own = read.contracts.abiOf(address);
    const abi = own ?? (standard === undefined ? undefined : standardAbi(standard));
    const called = calledOf(asked, abi);
    const answer =
      called === undefined
        ? undefined
        : await askFunction(context, {
            address,
            fragment: called,
            values: asked.argument,
            block: record.blockNumber,
          });
    const name = record.name ?? token?.name ?? el.nameOf(address);
    return {
      title: words.titleOf(name),
      description: words.summary(name),
      main: html`<div class="title"><h1>${words.titleOf(name)}</h1></div>
${factsCard(context, { record, token, standard, isKnown: own !== undefined })}
${readsCard(context, { address, token, abi, isKnown: own !== undefined, called, asked, answer })}
${anyCard(context, { address, token, abi, called, asked, answer })}
${own === undefined ? html`` : abiCard(context, own)}`,
    };
  },
});

async function tokenOf({ read }: PageContext, address: string): Promise<TokenRow | undefined> {
  try {
    return await readToken(read.db, address);
  } catch (error) {
    if (isPostgresFailure(error)) return undefined;
    throw error;
  }
}

/** What it has moved tokens by, else what its code looks for. */
function standardFor(token: TokenRow | undefined, code: string): TokenStandard | undefined {
  return token === undefined || token.kind === "unknown" ? standardOfCode(code) : token.kind;
}

/** The function that was asked for, of the contract's own ABI before one that was typed. */
function calledOf({ call }: Query, abi: Interface | undefined): FunctionFragment | undefined {
  if (call === undefined) return undefined;
  return readsOf(abi).find((fragment) => fragment.format() === call) ?? readSignature(call);
}

function functionsOf(abi: Interface | undefined): FunctionFragment[] {
  const found: FunctionFragment[] = [];
  abi?.forEachFunction((fragment) => void found.push(fragment));
  return found;
}

const readsOf = (abi: Interface | undefined) => functionsOf(abi).filter(({ constant }) => constant);

function factsCard(
  { texts, el }: PageContext,
  {
    record,
    token,
    standard,
    isKnown,
  }: {
    record: AccountRecord;
    token: TokenRow | undefined;
    standard: TokenStandard | undefined;
    isKnown: boolean;
  },
): Html {
  const { contract: words, address: ofAddress } = texts;
  const { createdBy } = record;
  const named = record.name === null ? "" : encodeURIComponent(record.name);
  return html`<section class="card">
${facts([
  [ofAddress.address, el.fullAddress(record.address)],
  token === undefined
    ? undefined
    : [texts.transfers.token, el.link(`token/${record.address}`, token.name ?? texts.transfers.unnamed)],
  standard === undefined ? undefined : [texts.tokens.kind, texts.tokens.kinds[standard]],
  [
    texts.contracts.abi,
    isKnown ? el.link(`api/v1/network/contracts/${named}/abi.json`, "JSON") : words.abiUnknown,
  ],
  [ofAddress.balance, el.tokens(record.balance)],
  [ofAddress.code, texts.units.bytes(el.integer(record.codeBytes))],
  createdBy === null
    ? undefined
    : [
        ofAddress.createdBy,
        html`${el.addressLink(createdBy.address)} ${ofAddress.createdIn} ${el.transactionLink(createdBy.transactionHash)}`,
      ],
])}
<p class="more">${el.link(`address/${record.address}`, words.lists)}</p>
</section>`;
}

type Shown = {
  address: string;
  token: TokenRow | undefined;
  abi: Interface | undefined;
  called: FunctionFragment | undefined;
  asked: Query;
  answer: FunctionAnswer | undefined;
};

/** The functions that the ABI says only read, each as a form. */
function readsCard(
  context: PageContext,
  { address, token, abi, isKnown, called, asked, answer }: Shown & { isKnown: boolean },
): Html {
  const { contract: words } = context.texts;
  const reads = readsOf(abi);
  if (reads.length === 0) return html``;
  const forms = reads.map((fragment, index) => {
    const isCalled = fragment === called;
    const open = isCalled ? html` id="call" open` : html``;
    return html`<details class="function"${open}><summary><code>${signatureOf(fragment)}</code></summary>
${functionForm(context, { address, token, fragment, id: `f${index}`, values: isCalled ? asked.argument : [], answer: isCalled ? answer : undefined })}
</details>`;
  });
  return html`<section class="card"><h2>${words.read}</h2>
<p class="soft">${isKnown ? words.readHelp : words.readByStandard}</p>
${forms}
</section>`;
}

/** With the names of its arguments, and what it returns. */
function signatureOf({ name, inputs, outputs }: FunctionFragment): string {
  const list = (types: readonly ParamType[]) => types.map((type) => type.format("full")).join(", ");
  return `${name}(${list(inputs)})${outputs.length === 0 ? "" : ` → ${list(outputs)}`}`;
}

/** A function that no ABI here has, by its signature. */
function anyCard(context: PageContext, { address, token, abi, called, asked, answer }: Shown): Html {
  const { texts, el } = context;
  const { contract: words } = texts;
  const isTyped = asked.call !== undefined && !readsOf(abi).some((fragment) => fragment === called);
  const isUnreadable = isTyped && called === undefined;
  const typed = isTyped ? (asked.call ?? "") : "";
  const fault = isUnreadable
    ? html`<p class="error" id="signature-fault" role="alert">${words.signatureFault}</p>`
    : html``;
  const marks = isUnreadable ? html` aria-invalid="true" aria-describedby="signature-fault"` : html``;
  const form =
    isTyped && called !== undefined
      ? html`<div id="call">${functionForm(context, { address, token, fragment: called, call: typed, id: "any", values: asked.argument, answer })}</div>`
      : html``;
  return html`<section class="card"><h2>${words.any}</h2>
<p class="soft">${words.anyHelp}</p>
<form class="call fields" action="${el.to(`contract/${address}`)}">
<label for="signature">${words.signature}</label>
<input id="signature" name="call" value="${typed}" placeholder="balanceOf(address) returns (uint256)" maxlength="${String(signatureLengthMax)}" required spellcheck="false" autocomplete="off" autocapitalize="off"${marks}>
${fault}
<button type="submit" class="quiet">${words.choose}</button>
</form>
${form}
</section>`;
}

/** What else the ABI has: functions that change something, events and errors. */
function abiCard({ texts }: PageContext, abi: Interface): Html {
  const { contract: words } = texts;
  const writes = functionsOf(abi).filter(({ constant }) => !constant);
  const events: string[] = [];
  abi.forEachEvent((fragment) => void events.push(fragment.format("full")));
  const errors: string[] = [];
  abi.forEachError((fragment) => void errors.push(fragment.format("full")));
  const part = (title: string, signatures: readonly string[]) =>
    signatures.length === 0
      ? html``
      : html`<h3>${title}</h3><ul class="raw">${signatures.map((text) => html`<li><code class="long">${text}</code></li>`)}</ul>`;
  return html`<section class="card"><h2>${texts.contracts.abi}</h2>
${part(
  words.writes,
  writes.map((fragment) => fragment.format("full")),
)}
${part(words.events, events)}
${part(words.errors, errors)}
</section>`;
}
