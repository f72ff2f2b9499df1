import { z } from "zod";
import { errorTable } from "../../../../lib/errors.ts";
import { isRefusal, type Refusal } from "../../../../lib/http-service/refusal.ts";
import { type Html, html } from "../../../../lib/web/html.ts";
import { isLanguage, languageNames } from "../../../../lib/web/languages.ts";
import type { Page } from "../../../explorer/page.ts";
import { contactText } from "../../checkout/elements.ts";
import { contactCharsMax, displayNameCharsMax, settingsBody } from "../../settings/settings-record.ts";
import { notice, pageHead } from "../elements.ts";
import type { Input, MerchantRoute, SignedIn } from "../merchant-page.ts";

/** As a browser posts it: what a list has for "none" is an empty text. */
const form = z.object({
  ...settingsBody.shape,
  language: z.preprocess((value) => (value === "" ? null : value), settingsBody.shape.language),
});

/** What was typed, or what is saved. */
type Shown = { displayName: string; contact: string; language: string };
type Faults = Partial<Record<keyof Shown, string>>;

/** What customers see of a merchant. */
export const settings: MerchantRoute = {
  method: "GET",
  path: "/merchant/settings",
  async answer(context, { query }) {
    const { profile, session, words } = context;
    const { displayName, contact, language } = await profile.read(session.wallet);
    const done = query["done"] === "saved" ? words.settings.saved : undefined;
    return settingsPage(context, { shown: { displayName, contact, language: language ?? "" }, done });
  },
};

export const saveSettings: MerchantRoute = {
  method: "POST",
  path: "/merchant/settings",
  async answer(context, { form: given }) {
    const { profile, session } = context;
    const shown = typedOf(given);
    const read = form.safeParse(given);
    if (!read.success) {
      return settingsPage(context, { shown, faults: faultsOf(context, read.error), status: 400 });
    }
    const saved = await profile.save(session.wallet, read.data);
    if (!isRefusal(saved)) return { redirect: "merchant/settings?done=saved" };
    const { status } = errorTable[saved.refused];
    return settingsPage(context, { shown, fault: refusalOf(context, saved), status });
  },
};

function typedOf({ displayName, contact, language }: Input["form"]): Shown {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { displayName: text(displayName), contact: text(contact), language: text(language) };
}

function faultsOf({ words: { settings: texts } }: SignedIn, { issues }: z.ZodError): Faults {
  const wrong = new Set(issues.map(({ path }) => path[0]));
  return {
    ...(wrong.has("displayName") ? { displayName: texts.wrongName } : {}),
    ...(wrong.has("contact") ? { contact: texts.wrongContact } : {}),
    ...(wrong.has("language") ? { language: texts.wrongLanguage } : {}),
  };
}

function refusalOf({ words }: SignedIn, { refused }: Refusal): string {
  return refused === "rate_limited" ? words.settings.tooMany : words.errors.other;
}

function settingsPage(
  context: SignedIn,
  {
    shown,
    faults = {},
    fault,
    done,
    status,
  }: {
    shown: Shown;
    faults?: Faults;
    fault?: string | undefined;
    done?: string | undefined;
    status?: number;
  },
): Page {
  const { words, el } = context;
  const { settings: texts } = words;
  return {
    title: texts.title,
    description: texts.intro,
    ...(status === undefined ? {} : { status }),
    main: html`${pageHead(context, { title: texts.title, tab: "settings" })}
${notice(fault, "bad")}
${notice(done)}
<div class="cards">
<section class="card"><p>${texts.intro}</p>
<form class="order-form" method="post" action="${el.to("merchant/settings")}" data-once>
${textField({ name: "displayName", label: texts.name, hint: texts.nameHint, value: shown.displayName, max: displayNameCharsMax, fault: faults.displayName })}
${textField({ name: "contact", label: texts.contact, hint: texts.contactHint, value: shown.contact, max: contactCharsMax, fault: faults.contact })}
${languageField(context, { value: shown.language, fault: faults.language })}
<p class="actions"><button type="submit">${texts.save}</button></p>
</form>
<p class="hint">${texts.forgotten}</p>
</section>
${Object.keys(faults).length === 0 ? preview(context, shown) : html``}
</div>`,
  };
}

function textField({
  name,
  label,
  hint,
  value,
  max,
  fault,
}: {
  name: string;
  label: string;
  hint: string;
  value: string;
  max: number;
  fault: string | undefined;
}): Html {
  // Browsers count UTF-16 units, of which a character has at most two: the server counts characters.
  return html`<div class="fields"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" value="${value}" maxlength="${String(2 * max)}" autocomplete="off" ${described(name, fault)}>
${faultText(name, fault)}<p class="hint" id="${name}-hint">${hint}</p></div>`;
}

function languageField(
  { words: { settings: texts } }: SignedIn,
  { value, fault }: { value: string; fault: string | undefined },
): Html {
  const options = Object.entries(languageNames).map(
    ([code, name]) =>
      html`<option value="${code}" lang="${code}"${code === value ? html` selected` : html``}>${name}</option>`,
  );
  return html`<div class="fields"><label for="language">${texts.language}</label>
<select id="language" name="language" ${described("language", fault)}><option value=""${isLanguage(value) ? html`` : html` selected`}>${texts.sites}</option>${options}</select>
${faultText("language", fault)}<p class="hint" id="language-hint">${texts.languageHint}</p></div>`;
}

function described(name: string, fault: string | undefined): Html {
  return fault === undefined
    ? html`aria-describedby="${name}-hint"`
    : html`aria-invalid="true" aria-describedby="${name}-fault ${name}-hint"`;
}

function faultText(name: string, fault: string | undefined): Html {
  return fault === undefined
    ? html``
    : html`<p class="error" id="${name}-fault" role="alert">${fault}</p>
`;
}

/** As it stands above an invoice: the name never without the address. */
function preview(
  { words: { settings: texts }, el, session }: SignedIn,
  { displayName, contact }: Shown,
): Html {
  return html`<section class="card" aria-labelledby="preview"><h2 id="preview">${texts.preview}</h2>
<p class="hint">${texts.previewHelp}</p>
<div class="preview">
<p class="soft">${texts.pays}</p>
<p class="preview-name">${displayName === "" ? html`<span class="soft">${texts.noName}</span>` : displayName}</p>
<p>${el.fullAddress(session.wallet)}</p>
<p>${contact === "" ? html`<span class="soft">${texts.noContact}</span>` : html`<span class="soft">${texts.questions}</span> <bdi>${contactText(contact)}</bdi>`}</p>
</div></section>`;
}
