import { formatEther } from "ethers/utils";
import type { Refusal } from "../../lib/http-service/refusal.ts";
import { network } from "../../lib/network.ts";
import { type Html, html } from "../../lib/web/html.ts";
import type { Texts } from "./texts/en.ts";

export type Words = ReturnType<typeof createWords>;

const hourSeconds = 3600;
const minuteSeconds = 60;

/** Amounts, lengths of time, moments and refusals in the words of one language. */
export function createWords({ texts, now }: { texts: Texts; now: () => number }) {
  const { locale } = texts;
  const numbers = new Intl.NumberFormat(locale);
  const decimalSign = numbers.formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? ".";
  const moments = new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });

  const count = (value: number): string => numbers.format(value);

  /** `1,234.5 TEST`: with at most four decimals, and nothing rounded up that is not there. */
  function tokens(wei: string | bigint): string {
    const [whole = "0", decimals = ""] = formatEther(wei).split(".");
    const rest = decimals.slice(0, 4).replace(/0+$/, "");
    const fraction = rest === "" ? "" : `${decimalSign}${rest}`;
    return `${numbers.format(BigInt(whole))}${fraction} ${network.nativeCurrency.symbol}`;
  }

  /** In whole hours, minutes or seconds, of which there are two or more: `24 hours`, `90 seconds`. */
  function length(seconds: number): string {
    const in_ = (unit: "hour" | "minute" | "second", size: number) =>
      new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(
        Math.ceil(seconds / size),
      );
    if (seconds >= 2 * hourSeconds) return in_("hour", hourSeconds);
    return seconds >= 2 * minuteSeconds ? in_("minute", minuteSeconds) : in_("second", 1);
  }

  /** A moment in UTC; a script says it in the reader's own time. */
  function moment(atMs: number): Html {
    return html`<time datetime="${new Date(atMs).toISOString()}">${moments.format(atMs)} UTC</time>`;
  }

  /** Why a request was refused, and when another try makes sense. */
  function refusal({ refused, reason = refused, retryAfterMs }: Refusal): Html {
    const known: Readonly<Record<string, string>> = texts.refusals;
    const says = known[reason] ?? known[refused] ?? texts.refusals.other;
    if (retryAfterMs === undefined) return html`${says}`;
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
    return seconds >= 2 * hourSeconds
      ? html`${says} ${texts.again.later(length(seconds))} ${moment(now() + retryAfterMs)}`
      : html`${says} ${texts.again.soon(length(seconds))}`;
  }

  return { count, tokens, length, moment, refusal };
}

/** The beginning and the end of an address or a hash. */
export function short(text: string): string {
  return `${text.slice(0, 6)}…${text.slice(-4)}`;
}
