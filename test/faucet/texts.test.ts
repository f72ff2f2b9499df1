import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { en } from "../../faucet/page/texts/en.ts";
import { languages } from "../../faucet/page/texts/languages.ts";
import { createWords } from "../../faucet/page/words.ts";
import { refusal } from "../../lib/http-service/refusal.ts";
import { textShape } from "../helpers/text-shape.ts";

t.test("every language has the same texts, which leave the same places open", async (t) => {
  for (const [language, texts] of Object.entries(languages)) {
    t.same(textShape(texts), textShape(en), language);
    t.notMatch(JSON.stringify(texts.words), /""/, "and none is empty");
  }
});

t.test("every reason of a refusal has a text for people", async (t) => {
  const folder = new URL("../../faucet/", import.meta.url);
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const found = sources.flatMap((file) => [
    ...readFileSync(new URL(file, folder), "utf8").matchAll(/reason: "([a-z]+_[a-z]+)"/g),
  ]);
  const reasons = new Set(found.map(([, reason = ""]) => reason));
  t.ok(reasons.size >= 8, [...reasons].join(" "));
  const known = new Set([...Object.keys(en.refusals), "claim_unknown"]);
  t.same(
    [...reasons].filter((reason) => !known.has(reason)),
    [],
  );
});

t.test("amounts, lengths and refusals are told in the words of the language", async (t) => {
  const now = () => Date.UTC(2026, 10, 22, 10);
  const [english, indonesian] = [languages.en, languages.id].map((texts) => createWords({ texts, now }));
  t.equal(english?.tokens(1_234_567_899_999n * 10n ** 12n), "1,234,567.8999 TEST");
  t.equal(indonesian?.tokens(1_234_567_899_999n * 10n ** 12n), "1.234.567,8999 TEST");
  t.equal(english?.tokens("25000000000000000000"), "25 TEST");
  for (const [seconds, words, kata] of [
    [1, "1 second", "1 detik"],
    [119, "119 seconds", "119 detik"],
    [120, "2 minutes", "2 menit"],
    [86_400, "24 hours", "24 jam"],
  ] as const) {
    t.equal(english?.length(seconds), words);
    t.equal(indonesian?.length(seconds), kata);
  }
  const limited = refusal("rate_limited", "…", { reason: "limit_address", retryAfterMs: 86_400_000 });
  t.equal(
    english?.refusal(limited).text,
    'The address has had its claim. The next is possible in 24 hours: <time datetime="2026-11-23T10:00:00.000Z">23 Nov 2026, 10:00 UTC</time>',
  );
  t.match(indonesian?.refusal(limited).text, "Alamat ini sudah mendapat klaimnya.");
  t.equal(english?.refusal(refusal("uri_too_long", "…")).text, "The request cannot be read.");
});
