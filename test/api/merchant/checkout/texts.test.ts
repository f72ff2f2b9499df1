import t from "tap";
import { en } from "../../../../api/merchant/checkout/texts/en.ts";
import { languages } from "../../../../api/merchant/checkout/texts/languages.ts";
import { textShape } from "../../../helpers/text-shape.ts";

t.test("every language has the same texts, which leave the same places open", async (t) => {
  for (const [language, texts] of Object.entries(languages)) {
    t.same(textShape(texts), textShape(en), language);
    t.notMatch(JSON.stringify(texts), /""/, "and none is empty");
  }
});
