import { createRandom } from "./scan-random.ts";

/** A request object: its members' names, and their values as JSON texts. */
export type RequestMembers = [name: string, valueText: string][];

/** Random bodies from a seed: requests, batches and other JSON texts, written well or oddly, whole or damaged. */
export function createGenerator(seed: number) {
  const random = createRandom(seed);
  const { below, chance, pick, many } = random;
  const values = createValues(random);

  const request = (): RequestMembers => {
    const members: RequestMembers = [
      [
        "jsonrpc",
        chance(15) ? pick(['"2\\u002e0"', '"2.0 "', '"2"', "2.0", "null", values.value(1)]) : '"2.0"',
      ],
      ["id", chance(8) ? values.value(2) : pick([values.number(), values.string(), "1", "7", "null"])],
      ["method", chance(15) ? values.value(1) : pick(['"eth_call"', '"eth_chain\\u0049d"', values.string()])],
      ["params", chance(15) ? pick(["null", "1", '"x"', "{}"]) : values.container(3)],
    ];
    if (chance(6)) members.splice(below(4), 1);
    if (chance(12)) members.push([pick(["id", "jsonrpc", "method", "params", "x"]), values.value(1)]);
    if (chance(6)) members.push(...many(below(4), (): [string, string] => [values.name(), values.value(2)]));
    if (chance(80)) {
      members.push(...many(27 + below(4), (index): [string, string] => [`more${index}`, "0"]));
    }
    return random.shuffle(members);
  };

  /** `usual`: the names without escapes and no blanks, as clients write; else as JSON also allows. */
  const render = (members: RequestMembers, style: "usual" | "odd"): string => {
    const blank = style === "odd" ? values.blank : () => "";
    const nameText = style === "odd" ? values.oddName : values.usualName;
    const texts = members.map(
      ([name, text]) => `${blank()}${nameText(name)}${blank()}:${blank()}${text}${blank()}`,
    );
    return `{${texts.join(",") || blank()}}`;
  };

  const item = () => (chance(12) ? values.value(3) : render(request(), pick(["usual", "odd"])));
  const batch = () => {
    const items = many(chance(20) ? 0 : 1 + below(6), () => values.blank() + item() + values.blank());
    return `[${items.join(",")}]`;
  };
  const mark = () => (chance(200) ? "\ufeff" : "");
  const text = () =>
    mark() + values.blank() + pick([item, item, item, batch, () => values.value(8)])() + values.blank();

  /** One to three small damages, such as a bad connection, a careless program or an attacker would make. */
  const damage = (body: Buffer): Buffer => {
    let damaged = body;
    for (let count = 1 + below(3); count > 0; count -= 1) {
      const at = below(damaged.length + 1);
      const before = damaged.subarray(0, at);
      const after = damaged.subarray(at);
      const someBytes = Buffer.from(many(1 + below(2), () => values.tellingByte()));
      damaged = pick([
        () => Buffer.concat([before, someBytes, after]),
        () => Buffer.concat([before, someBytes, after.subarray(someBytes.length)]),
        () => Buffer.concat([before, after.subarray(1 + below(4))]),
        () => Buffer.concat([before, before.subarray(below(at + 1)), after]),
        () => Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ (1 << below(8))]), after.subarray(1)]),
        () => before,
      ])();
    }
    return damaged;
  };

  return {
    random,
    request,
    render,
    body: () => Buffer.from(text()),
    damagedBody: () => damage(Buffer.from(text())),
  };
}

function createValues({ below, chance, pick, many }: ReturnType<typeof createRandom>) {
  const blank = () => (chance(5) ? many(1 + below(5), () => pick([" ", "\n", "\t", "\r"])).join("") : "");
  const digits = (count: number) => many(count, () => String(below(10))).join("");
  const unicodeEscape = (unit: number) => {
    const hex = unit.toString(16).padStart(4, "0");
    return `\\u${chance(2) ? hex.toUpperCase() : hex}`;
  };
  const pair = () => unicodeEscape(0xd800 + below(0x400)) + unicodeEscape(0xdc00 + below(0x400));

  const plain = () => String.fromCharCode(pick([0x23 + below(0x39), 0x5d + below(0x23)]));
  const rare = () =>
    pick([
      () => `\\${pick([...'"\\/bfnrt'])}`,
      () => unicodeEscape(below(0xd800)),
      () => unicodeEscape(below(0x80)),
      () => String.fromCodePoint(0x80 + below(0xd780)),
      () => String.fromCodePoint(0x10000 + below(0x100000)),
      () => pick(["é", "€", "\u2028", "\u007f", "\ufeff", "\uffff"]),
      pair,
      // Half a pair, which JSON.parse takes and the scanner must not.
      () => (chance(6) ? unicodeEscape(0xd800 + below(0x800)) : "-"),
    ])();
  const characters = (length: number, rareOneIn: number) =>
    many(length, () => (chance(rareOneIn) ? rare() : plain())).join("");
  const string = () =>
    `"${characters(pick([0, 1, 2, 3, 4, 5, 7, 8, 12, 20, 66]), pick([3, 10, 10_000, 10_000]))}"`;

  const integer = () => (chance(5) ? "0" : `${1 + below(9)}${digits(below(12))}`);
  const exponent = () =>
    pick(["e", "E"]) + pick(["", "+", "-"]) + pick(["0", "007", "300", "308", "309", "400", "99999"]);
  const number = () => {
    const whole = chance(100) ? `1${digits(pick([307, 308, 309, 998, 999, 1000, 1200]))}` : integer();
    const fraction = chance(4) ? `.${digits(chance(50) ? pick([997, 998, 999]) : 1 + below(9))}` : "";
    return (chance(4) ? "-" : "") + whole + fraction + (chance(6) ? exponent() : "");
  };

  const name = () => {
    if (chance(300)) return "n".repeat(pick([1023, 1024, 1025, 3000]));
    return pick(["x", "__proto__", "constructor", "ID", "i", "idx", "", "methods", "param", "jsonrpc2", "é"]);
  };
  const usualName = (text: string) => JSON.stringify(text);
  const oddName = (text: string) => {
    // A name near the longest that is allowed would grow beyond it.
    if (text.length > 100) return usualName(text);
    return `"${[...text].map((char) => (chance(8) ? unicodeEscape(char.charCodeAt(0)) : char)).join("")}"`;
  };

  const array = (depth: number): string => `[${inside(() => value(depth - 1))}]`;
  const object = (depth: number): string =>
    `{${inside(() => `${pick([usualName, oddName])(name())}${blank()}:${blank()}${value(depth - 1)}`)}}`;
  const inside = (make: () => string) =>
    many(below(4), () => blank() + make() + blank()).join(",") || blank();
  const nest = () => {
    const depth = 1 + below(14);
    const [open, content, close] = chance(2) ? ["[", "", "]"] : ['{"a":', "1", "}"];
    return open.repeat(depth) + content + close.repeat(depth);
  };
  const container = (depth: number): string => (chance(40) ? nest() : pick([array, array, object])(depth));
  const value = (depth: number): string =>
    depth > 0 && chance(2)
      ? container(depth)
      : pick([string, string, number, () => pick(["true", "false", "null"])])();

  /** Bytes that mean something to JSON or to UTF-8, and some that do not. */
  const tellingByte = () =>
    chance(3)
      ? below(256)
      : pick([
          ...'"\\{}[]:,0123456789-+.eEutrnul \n\0\x1f\x7f\x80\xbf\xc0\xed\xa0\xef\xbb\xf4\xff',
        ]).charCodeAt(0);

  return { blank, string, number, name, usualName, oddName, container, value, tellingByte };
}
