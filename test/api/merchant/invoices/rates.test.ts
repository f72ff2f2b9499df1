import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { createRates } from "../../../../api/merchant/invoices/rates.ts";
import { testFolder } from "../../../helpers/test-folder.ts";
import { waitFor } from "../../../helpers/wait-for.ts";

const noon = Date.parse("2026-11-23T12:00:00Z");
const at = (ms: number) => new Date(ms).toISOString();

async function watch(t: Test, text: string | undefined) {
  const folder = testFolder(t, text === undefined ? {} : { "rate.json": text });
  const rateFile = join(folder, "rate.json");
  const clock = { ms: noon };
  const lines: string[] = [];
  const rates = createRates({
    settings: { idrPerToken: "15000", rateFile, rateMaxAgeMinutes: 60 },
    now: () => clock.ms,
    pollMs: 20,
    logger: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
  });
  t.teardown(() => rates.stop());
  await rates.start();
  return {
    ...{ rates, clock, lines },
    async replace(next: string) {
      await writeFile(`${rateFile}.new`, next);
      await rename(`${rateFile}.new`, rateFile);
    },
  };
}

t.test("a rate of the configuration is of this moment, whenever it is asked for", async (t) => {
  const rates = createRates({
    settings: { idrPerToken: "15000", rateFile: "", rateMaxAgeMinutes: 1 },
    now: () => noon,
    logger: pino({ level: "silent" }),
  });
  await rates.start();
  t.match(rates.current(), { idrPerToken: "15000", source: "fixed", at: new Date(noon) });
  await rates.stop();
});

t.test(
  "a file that is replaced is the new rate, and one that cannot be used leaves the one before",
  async (t) => {
    const { rates, lines, replace } = await watch(
      t,
      JSON.stringify({ idrPerToken: "15000.5", at: at(noon - 1000) }),
    );
    t.match(rates.current(), { idrPerToken: "15000.5", source: "file", at: new Date(noon - 1000) });
    await replace(JSON.stringify({ idrPerToken: "16000", at: at(noon) }));
    await waitFor("the new rate is there", async () => JSON.stringify(rates.current()).includes("16000"));
    const broken: [string, RegExp][] = [
      ["{", /valid JSON/],
      [JSON.stringify({ idrPerToken: 16000, at: at(noon) }), /decimal text/],
      [JSON.stringify({ idrPerToken: "0", at: at(noon) }), /decimal text/],
      [JSON.stringify({ idrPerToken: "1", at: at(noon), more: 1 }), /more/],
      [JSON.stringify({ idrPerToken: "1", at: "yesterday" }), /at: a time/],
      [JSON.stringify({ idrPerToken: "1", at: at(noon + 600_000) }), /a time that is over/],
      [" ".repeat(5000), /longer than 4096/],
    ];
    for (const [text, reason] of broken) {
      await replace(text);
      await waitFor("it is told", async () => reason.test(lines.at(-1) ?? ""));
      t.match(rates.current(), { idrPerToken: "16000" }, text.slice(0, 60));
    }
  },
);

t.test("a rate that is too old makes no invoices, and neither does a file that is not there", async (t) => {
  const { rates, clock } = await watch(t, JSON.stringify({ idrPerToken: "15000", at: at(noon) }));
  clock.ms = noon + 3_600_000;
  t.match(rates.current(), { idrPerToken: "15000" }, "an hour is not more than an hour");
  clock.ms += 1;
  t.match(rates.current(), { refused: "rate_stale" });
  t.match((await watch(t, undefined)).rates.current(), { refused: "rate_stale" });
});
