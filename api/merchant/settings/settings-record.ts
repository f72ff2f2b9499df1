import { z } from "zod";
import { languageCodes } from "../../../lib/web/languages.ts";
import { shownText } from "./shown-text.ts";

export const displayNameCharsMax = 60;
export const contactCharsMax = 120;

const displayName = z.string().meta({
  description: "What customers see above an invoice, beside the wallet's address; empty: the address alone",
  examples: ["Toko Sari"],
});
const contact = z.string().meta({
  description: "Where customers ask about an invoice: an e-mail address, a number, a sentence",
  examples: ["WhatsApp +62 812 0000 0000"],
});
const language = z.enum(languageCodes).nullable().meta({
  description: "Of customers' pages, where their browser asks for neither; null: Indonesian",
});

export const settingsRecord = z
  .strictObject({ displayName, contact, language })
  .meta({ id: "MerchantSettings", description: "What a merchant tells its customers about itself" });

/** With the letters of other alphabets that look like an x. */
const likeAddress = /\b0[x×хχ][0-9a-f]{2}|[0-9a-f]{16}/iu;
const addressInName =
  "A name that looks like no address was expected: the address beside it is what tells who is paid";

/** All of it: what is left out of a record that replaces the old one would be lost without a word. */
export const settingsBody = z.strictObject({
  displayName: shownText({ charsMax: displayNameCharsMax })
    .refine((name) => !likeAddress.test(name), addressInName)
    .meta({ ...displayName.meta(), maxLength: displayNameCharsMax }),
  contact: shownText({ charsMax: contactCharsMax }).meta({ ...contact.meta(), maxLength: contactCharsMax }),
  language: z
    .enum(languageCodes, `One of ${languageCodes.join(", ")}, or null, was expected`)
    .nullable()
    .meta({ ...language.meta() }),
});
