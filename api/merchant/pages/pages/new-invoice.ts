import { randomBytes } from "node:crypto";
import type { z } from "zod";
import { errorTable } from "../../../../lib/errors.ts";
import { isRefusal, type Refusal } from "../../../../lib/http-service/refusal.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { formatRupiah } from "../../invoices/format-rupiah.ts";
import {
  amountIdrMax,
  amountIdrMin,
  expiresInMinutesDefault,
  invoiceBody,
} from "../../invoices/invoice-body.ts";
import { message, notice, pageHead } from "../elements.ts";
import type { Input, MerchantAnswer, MerchantRoute, SignedIn } from "../merchant-page.ts";

const fieldNames = [
  "amountIdr",
  "customerLabel",
  "note",
  "reference",
  "expiresInMinutes",
  "redirectUrl",
] as const;
type FieldName = (typeof fieldNames)[number];

/** What was typed, whatever it is, so that nobody has to type it again; `token` makes the form one that is sent once. */
type Typed = Readonly<Record<FieldName | "token", string>>;
type Faults = Partial<Record<FieldName, string>>;

const minutesOffered = [15, 30, 60, 180, 720, 1440];
const tokenPattern = /^[\w-]{22}$/;
const createToken = () => randomBytes(16).toString("base64url");

export const newInvoice: MerchantRoute = {
  method: "GET",
  path: "/merchant/invoices/new",
  answer: (context) =>
    formPage(context, {
      typed: { ...textsOf({}), expiresInMinutes: String(expiresInMinutesDefault), token: createToken() },
    }),
};

/** Makes the invoice. A form that is sent twice makes one: it carries a text by which the database knows it. */
export const makeInvoice: MerchantRoute = {
  method: "POST",
  path: "/merchant/invoices",
  async answer(context, { form }): Promise<MerchantAnswer> {
    const { invoices, session, words } = context;
    const { form: texts } = words.invoices;
    const typed = textsOf(form);
    if (!tokenPattern.test(typed.token)) {
      const again = { ...typed, token: createToken() };
      return formPage(context, { typed: again, fault: texts.incomplete, status: 400 });
    }
    const body = readForm(typed);
    if (!body.success)
      return formPage(context, { typed, faults: faultsOf(context, body.error), status: 400 });
    const made = await invoices.createByForm(session.wallet, { body: body.data, formToken: typed.token });
    if (!isRefusal(made)) return { redirect: `merchant/invoices/${made.id}?done=made` };
    return refusedPage(context, { typed, refused: made });
  },
};

function textsOf(form: Input["form"]): Typed {
  const textOf = (name: string) => {
    const value = form[name];
    return typeof value === "string" ? value : "";
  };
  return {
    amountIdr: textOf("amountIdr"),
    customerLabel: textOf("customerLabel"),
    note: textOf("note"),
    reference: textOf("reference"),
    expiresInMinutes: textOf("expiresInMinutes"),
    redirectUrl: textOf("redirectUrl"),
    token: textOf("token"),
  };
}

/** As programs send it: what was left empty is not there. */
function readForm(typed: Typed) {
  const given = (text: string) => (text === "" ? undefined : text);
  return invoiceBody.safeParse({
    amountIdr: readRupiah(typed.amountIdr),
    customerLabel: given(typed.customerLabel.trim()),
    // A form's lines end as those of mails do.
    note: given(typed.note.replaceAll("\r\n", "\n").trim()),
    reference: given(typed.reference.trim()),
    redirectUrl: given(typed.redirectUrl.trim()),
    expiresInMinutes: readWhole(typed.expiresInMinutes),
  });
}

/** Rupiah as people write them: `150000`, `150.000`, `Rp 150,000`. What is none is none for the schema either. */
export function readRupiah(text: string): number | undefined {
  const digits = text.trim().replace(/^rp\.?\s*/i, "");
  const isGrouped = /^\d{1,3}([., ])\d{3}(?:\1\d{3})*$/.test(digits);
  return readWhole(isGrouped ? digits.replaceAll(/[., ]/g, "") : digits);
}

function readWhole(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function faultsOf({ words }: SignedIn, { issues }: z.ZodError): Faults {
  const { wrong } = words.invoices.form;
  const says = {
    ...wrong,
    amountIdr: wrong.amountIdr(formatRupiah(amountIdrMin), formatRupiah(amountIdrMax)),
  };
  const names = fieldNames.filter((name) => issues.some(({ path }) => path[0] === name));
  return Object.fromEntries(names.map((name) => [name, says[name]]));
}

function refusedPage(
  context: SignedIn,
  { typed, refused }: { typed: Typed; refused: Refusal },
): MerchantAnswer {
  const { form: texts } = context.words.invoices;
  const { status } = errorTable[refused.refused];
  const pointers = refused.errors?.map(({ pointer }) => pointer) ?? [];
  const at = {
    ...(pointers.includes("/reference") ? { reference: texts.wrong.referenceTaken } : {}),
    ...(pointers.includes("/redirectUrl") ? { redirectUrl: texts.wrong.redirectUrl } : {}),
  };
  if (Object.keys(at).length > 0) return formPage(context, { typed, faults: at, status });
  if (refused.refused === "idempotency_key_reused") {
    const { reused, reusedHelp } = texts;
    return message(context, { title: reused, help: reusedHelp, status, path: "merchant/invoices/new" });
  }
  const fault =
    refused.refused === "rate_limited"
      ? texts.tooMany
      : refused.refused === "rate_stale"
        ? texts.noRate
        : texts.away;
  return formPage(context, { typed, fault, status });
}

function formPage(
  context: SignedIn,
  {
    typed,
    faults = {},
    fault,
    status = 200,
  }: { typed: Typed; faults?: Faults; fault?: string; status?: number },
) {
  const { words, el } = context;
  const { form: texts } = words.invoices;
  const field = fieldOf({ typed, faults });
  const [least, most] = [formatRupiah(amountIdrMin), formatRupiah(amountIdrMax)];
  return {
    title: texts.title,
    description: words.intro,
    status,
    main: html`${pageHead(context, { title: texts.title, tab: "invoices" })}
${notice(fault, "bad")}
<form class="card order-form" method="post" action="${el.to("merchant/invoices")}" data-once>
<input type="hidden" name="token" value="${typed.token}" autocomplete="off">
${field("amountIdr", { name: texts.amount, hint: texts.amountHint(least, most), more: html` inputmode="numeric" required` })}
${field("customerLabel", { name: texts.customer, hint: texts.customerHint, more: html` maxlength="120"` })}
${field("note", { name: texts.note, hint: texts.noteHint, more: html` maxlength="500" rows="3"`, isLong: true })}
${field("reference", { name: texts.reference, hint: texts.referenceHint, more: html` maxlength="80"` })}
${minutesField(context, { typed, fault: faults.expiresInMinutes })}
${field("redirectUrl", { name: texts.redirect, hint: texts.redirectHint, more: html` type="url" maxlength="500"` })}
<div class="actions"><button type="submit">${texts.submit}</button></div>
</form>`,
  };
}

/** A field with its name, what is wrong with it, and its hint. */
function fieldOf({ typed, faults }: { typed: Typed; faults: Faults }) {
  return (
    name: Exclude<FieldName, "expiresInMinutes">,
    {
      name: called,
      hint,
      more,
      isLong = false,
    }: { name: string; hint: string; more: Html; isLong?: boolean },
  ): Html => {
    const fault = faults[name];
    const about = html` id="${name}" name="${name}" autocomplete="off" aria-describedby="${name}-hint"${invalid(fault)}${more}`;
    const control = isLong
      ? html`<textarea${about}>${typed[name]}</textarea>`
      : html`<input${about} value="${typed[name]}">`;
    return html`<div class="fields"><label for="${name}">${called}</label>
${control}
${hintOf({ id: name, hint, fault })}</div>`;
  };
}

function minutesField(
  { words, el }: SignedIn,
  { typed, fault }: { typed: Typed; fault: string | undefined },
): Html {
  const { form: texts } = words.invoices;
  const options = minutesOffered.map((minutes) => {
    const selected = String(minutes) === typed.expiresInMinutes ? html` selected` : html``;
    const hours = minutes / 60;
    const says = hours < 1 ? texts.minutes(el.integer(minutes)) : texts.hours(hours, el.integer(hours));
    return html`<option value="${String(minutes)}"${selected}>${says}</option>`;
  });
  return html`<div class="fields"><label for="expiresInMinutes">${texts.expires}</label>
<select id="expiresInMinutes" name="expiresInMinutes" aria-describedby="expiresInMinutes-hint"${invalid(fault)}>${options}</select>
${hintOf({ id: "expiresInMinutes", hint: "", fault })}</div>`;
}

function invalid(fault: string | undefined): Html {
  return fault === undefined ? html`` : html` aria-invalid="true"`;
}

/** What is wrong stands in the place of what is expected. */
function hintOf({ id, hint, fault }: { id: string; hint: string; fault: string | undefined }): Html {
  return fault === undefined
    ? html`<p class="hint" id="${id}-hint">${hint}</p>`
    : html`<p class="error" id="${id}-hint">${fault}</p>`;
}
