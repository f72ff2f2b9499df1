import { network } from "../../../lib/network.ts";
import { copyable } from "../../../lib/web/elements/copyable.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import type { Texts } from "../texts/en.ts";
import { identicon } from "./identicon.ts";

export type Elements = ReturnType<typeof createElements>;

const { symbol, decimals: tokenDecimals } = network.nativeCurrency;
const gweiDigits = 9;

/**
 * What pages are made of: links, times, amounts and states, in the words of one language. Links are relative, so that the
 * same page works at `/` and behind the gateway at `/explorer/`; `root` leads from the page's folder to the first one.
 */
export function createElements({
  texts,
  root,
  nameOf,
}: {
  texts: Texts;
  /** "./" at `/blocks`, "../" at `/block/7`. */
  root: string;
  nameOf: (address: string) => string | null;
}) {
  const { numbers, percents, fractions, decimalSign } = formatsOf(texts.locale);

  const integer = (value: number | string): string =>
    // Most numbers of a page are small, and then the same in every language.
    typeof value === "number" && value >= 0 && value < 1000 ? String(value) : numbers.format(BigInt(value));
  const decimal = (value: number): string => fractions.format(value);
  const to = (path: string): string => `${root}${path}`;
  const link = (path: string, content: string | Html): Html => html`<a href="${to(path)}">${content}</a>`;

  /** Digits in groups, with this language's sign before the fraction. */
  function localNumber(plain: string): string {
    const [whole = "0", fraction] = plain.split(".");
    const grouped = integer(whole);
    return fraction === undefined ? grouped : `${grouped}${decimalSign}${fraction}`;
  }

  /** A token's smallest units, by its decimals. */
  function units(value: string, decimals: number | null): string {
    if (decimals === null || decimals === 0) return localNumber(value);
    const digits = value.padStart(decimals + 1, "0");
    const fraction = digits.slice(-decimals).replace(/0+$/, "");
    const whole = digits.slice(0, -decimals);
    return localNumber(fraction === "" ? whole : `${whole}.${fraction}`);
  }

  /** Wei as tokens, with nothing rounded away. */
  const tokens = (wei: string): string => `${units(wei, tokenDecimals)} ${symbol}`;

  /** The beginning and the end of something long; the whole of it is in the title. */
  function short(text: string, { begin = 8, end = 6 }: { begin?: number; end?: number } = {}): Html {
    const cut = text.length <= begin + end + 1 ? text : `${text.slice(0, begin)}…${text.slice(-end)}`;
    return html`<span class="mono" title="${text}">${cut}</span>`;
  }

  return {
    texts,
    to,
    link,
    integer,
    decimal,
    tokens,
    units,
    short,
    percent: (fraction: number): string => texts.burns.share(percents.format(fraction * 100)),
    gwei: (wei: string): string => `${units(wei, gweiDigits)} gwei`,
    copyable,

    /** A value of bytes, whole, that can be copied. */
    bytes: (text: string): Html => copyable(text, html`<code class="long">${text}</code>`),

    blockLink: (number: number): Html => link(`block/${number}`, integer(number)),
    transactionLink: (hash: string): Html => link(`tx/${hash}`, short(hash, { begin: 10, end: 6 })),

    /** An account by its picture and its name, or its short address. */
    addressLink(address: string): Html {
      const name = nameOf(address);
      const shown = name === null ? short(address) : html`<span title="${address}">${name}</span>`;
      return html`<span class="account">${identicon(address)}${link(`address/${address}`, shown)}</span>`;
    },

    /** An account with its whole address, for the facts of one record. */
    fullAddress(address: string): Html {
      const name = nameOf(address);
      const whole = html`<a href="${to(`address/${address}`)}"><span class="mono long">${address}</span></a>`;
      const called = name === null ? html`` : html` <span class="name">${name}</span>`;
      return html`<span class="account">${identicon(address)}${copyable(address, whole)}${called}</span>`;
    },

    /** A name, or the short address, as text. */
    nameOf: (address: string): string => nameOf(address) ?? `${address.slice(0, 8)}…${address.slice(-6)}`,

    /** An absolute time; a script puts how long ago that is before it. */
    time(timestamp: string): Html {
      const shown = timestamp.replace("T", " ").replace("Z", " UTC");
      return html`<time datetime="${timestamp}">${shown}</time>`;
    },

    /** How a transaction ended: by word and sign, so that colour is not needed. */
    status(status: "success" | "failed" | "pending"): Html {
      const sign = { success: "✓", failed: "✗", pending: "…" }[status];
      return html`<span class="status ${status}"><span aria-hidden="true">${sign}</span> <span class="word">${texts.status[status]}</span></span>`;
    },
  };
}

type Formats = {
  numbers: Intl.NumberFormat;
  percents: Intl.NumberFormat;
  fractions: Intl.NumberFormat;
  decimalSign: string;
};

const formatsByLocale = new Map<string, Formats>();

/** Made once a language: they cost as much as a table of a page. */
function formatsOf(locale: string): Formats {
  const known = formatsByLocale.get(locale);
  if (known !== undefined) return known;
  const fractions = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const formats = {
    numbers: new Intl.NumberFormat(locale),
    percents: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
    fractions,
    decimalSign: fractions.formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? ".",
  };
  formatsByLocale.set(locale, formats);
  return formats;
}
