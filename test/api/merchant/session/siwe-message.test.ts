import fc from "fast-check";
import t from "tap";
import { judgeMessage, signInSite } from "../../../../api/merchant/session/judge-message.ts";
import { readSiweMessage } from "../../../../api/merchant/session/siwe-message.ts";
import "../../../helpers/property-seed.ts";
import { aliceWallet, messageOf } from "../support/sign-in.ts";

const nowMs = Date.parse("2026-11-23T12:00:00Z");
const site = signInSite({ publicUrl: "http://127.0.0.1:4000", chainId: 8845 });
const given = {
  ...{ nonce: "aB3dE6gH9jK2mN5pQ8sT1vW4", domain: site.domain, uri: site.origin, chainId: 8845 },
  ...{ statement: "Sign in.", issuedAt: "2026-11-23T11:59:00Z", expirationTime: "2026-11-23T12:04:00Z" },
};
const { address } = aliceWallet;
const good = messageOf(given, { address });
const withLine = (name: string, value: string | undefined) =>
  messageOf(given, { address, lines: { [name]: value } });

t.test("what EIP-4361 allows is read", (t) => {
  const bare = good.replace("Sign in.\n\n", "");
  const cases: Record<string, string> = {
    good,
    "without a statement": bare.replace("\n\nURI", "\n\n\nURI"),
    "with a scheme": `http://${good}`,
    "a URI with a path": withLine("URI", `${site.origin}/merchant?from=keys#top`),
    "without what is optional": withLine("Expiration Time", undefined),
    "with everything": `${withLine("Not Before", "2026-11-23T11:00:00Z")}\nRequest ID: 1-a%20b\nResources:\n- ipfs://bafy\n- https://a.example/b`,
    "an empty request ID": `${good}\nRequest ID: `,
    "no resource in its list": `${good}\nResources:`,
    "another time zone, parts of a second": withLine("Issued At", "2026-11-23T18:59:59.123456+07:00"),
  };
  for (const [what, text] of Object.entries(cases)) {
    const message = readSiweMessage(text);
    t.match(message, { address, nonce: given.nonce, chainId: 8845, version: "1", domain: site.domain }, what);
    if (message !== undefined)
      t.equal(judgeMessage(message, { site, nonceSeconds: 300, nowMs })?.detail, undefined, what);
  }
  t.end();
});

t.test("what is not of its grammar, or reads in two ways, is refused", (t) => {
  const lines = good.split("\n");
  const swapped = [...lines.slice(0, 5), lines[6], lines[5], ...lines.slice(7)].join("\n");
  const cases: Record<string, string> = {
    nothing: "",
    "another text": "Please sign",
    "without a statement, one empty line": good.replace("Sign in.\n\n", ""),
    "a line after the end": `${good}\n`,
    "a line that is not of it": `${good}\nAdmin: yes`,
    "a line twice": good.replace("Chain ID: 8845", "Chain ID: 8845\nChain ID: 8845"),
    "two messages": `${good}\n${good}`,
    "a space before": ` ${good}`,
    "a space after": `${good} `,
    "carriage returns": good.replaceAll("\n", "\r\n"),
    "a line separator of Unicode": good.replace("\nVersion", "\u2028Version"),
    "fields in another order": swapped,
    "other words": good.replace("Ethereum", "ethereum"),
    "words that look alike": good.replace("Ethereum account", "Ethereum ассount"),
    "an address in lower case": good.replace(address, address.toLowerCase()),
    "an address in upper case": good.replace(address, `0x${address.slice(2).toUpperCase()}`),
    "a wrong checksum": good.replace(address, address.replace("Fd", "fd")),
    "a short address": good.replace(address, address.slice(0, -1)),
    "no address": good.replace(`${address}\n`, ""),
    "no domain": good.replace(site.domain, ""),
    "a statement of two lines": good.replace("Sign in.", "Sign in.\nAnd more."),
    "a statement beyond ASCII": good.replace("Sign in.", "Masuk \u202e ."),
    "a NUL": good.replace("Sign in.", "Sign\u0000in."),
    "another version": withLine("Version", "2"),
    "a chain in hex": withLine("Chain ID", "0x228d"),
    "a chain with a zero before": withLine("Chain ID", "08845"),
    "a chain that is no number": withLine("Chain ID", "8845 "),
    "a chain beyond all numbers": withLine("Chain ID", "9".repeat(400)),
    "a chain that a number rounds": withLine("Chain ID", "9007199254740993"),
    "a short nonce": withLine("Nonce", "abc1234"),
    "a nonce of other characters": withLine("Nonce", "aB3dE6gH9jK2mN5pQ8sT1vW-"),
    "no nonce": withLine("Nonce", undefined),
    "no time": withLine("Issued At", undefined),
    "a day that there is not": withLine("Issued At", "2026-02-30T11:59:00Z"),
    "an hour that there is not": withLine("Issued At", "2026-11-23T24:00:00Z"),
    "a leap second": withLine("Issued At", "2026-11-23T11:59:60Z"),
    "a time without a zone": withLine("Issued At", "2026-11-23T11:59:00"),
    "a time in words": withLine("Expiration Time", "tomorrow"),
    "a URI that is none": withLine("URI", "127.0.0.1:4000/merchant"),
    "a URI with a space": withLine("URI", `${site.origin}/a b`),
    "a resource that is no URI": `${good}\nResources:\n- a b`,
    "a resource without its dash": `${good}\nResources:\nipfs://bafy`,
  };
  for (const [what, text] of Object.entries(cases)) t.equal(readSiweMessage(text), undefined, what);
  t.end();
});

t.test("another site, chain, version or time is refused, whatever it looks like", (t) => {
  const { origin } = site;
  const evil = [
    ...[
      "localhost:4000@evil.example",
      "127.0.0.1:4000@evil.example",
      "evil.example",
      "127.0.0.1:4000.evil.example",
    ],
    ...[
      "127.0.0.1",
      "127.0.0.1:4001",
      "127.0.0.1:04000",
      "127.1:4000",
      "localhost:4000",
      "user@127.0.0.1:4000",
      "[::1]:4000",
    ],
  ].map((domain) => messageOf(given, { address, domain }));
  const uris = [
    ...[
      `${origin}@evil.example/`,
      `${origin}.evil.example`,
      "https://127.0.0.1:4000",
      "HTTP://127.0.0.1:4000",
      `${origin}1/`,
    ],
    ...[
      "http://evil.example/http://127.0.0.1:4000",
      "http://x@127.0.0.1:4000/",
      "did:key:z6Mk",
      "http://127.0.0.1/",
      `${origin}?a`,
    ],
  ].map((uri) => withLine("URI", uri));
  const others = [
    ...["1", "8837", "88450", "0"].map((chain) => withLine("Chain ID", chain)),
    ...[`https://${good}`, `evil://${good}`],
    ...["2026-11-23T11:54:59Z", "2026-11-23T12:01:01Z", "2025-11-23T11:59:00Z", "9999-12-31T23:59:59Z"].map(
      (at) => withLine("Issued At", at),
    ),
    ...["2026-11-23T12:00:00Z", "2026-11-23T11:00:00Z", "2026-11-23T18:59:59+07:00"].map((at) =>
      withLine("Expiration Time", at),
    ),
    withLine("Not Before", "2026-11-23T12:00:01Z"),
  ];
  for (const text of [...evil, ...uris, ...others]) {
    const message = readSiweMessage(text);
    const refused =
      message === undefined ? undefined : judgeMessage(message, { site, nonceSeconds: 300, nowMs });
    t.ok(message === undefined || refused?.errors?.[0]?.pointer === "/message", text);
    if (refused !== undefined) t.ok(refused.detail.length < 400);
  }
  const atEdges = { "Issued At": "2026-11-23T11:55:00Z", "Not Before": "2026-11-23T12:00:00Z" };
  const message = readSiweMessage(messageOf(given, { address, lines: atEdges }));
  t.equal(message && judgeMessage(message, { site, nonceSeconds: 300, nowMs }), undefined, "exactly in time");
  t.end();
});

/** What may be taken, said once more in another way than the grammar's. */
const taken = new RegExp(
  `^(?:http://)?127\\.0\\.0\\.1:4000 wants you to sign in with your Ethereum account:\n0x[0-9a-fA-F]{40}\n\n(?:[!-~][ -~]*\n|[ -~]+\n)?\n?` +
    `URI: http://127\\.0\\.0\\.1:4000(?:/[!-~]*)?\nVersion: 1\nChain ID: 8845\nNonce: [0-9A-Za-z]{8,}\nIssued At: [0-9TtZz:.+-]+` +
    `(?:\nExpiration Time: [0-9TtZz:.+-]+)?(?:\nNot Before: [0-9TtZz:.+-]+)?(?:\nRequest ID: [!-~]*)?(?:\nResources:(?:\n- [!-~]+)*)?$`,
);

t.test("a text that was altered at random is refused, or still says site, chain and version", (t) => {
  const pieces = [
    "\n",
    "\r",
    " ",
    "@",
    "0",
    "1",
    "8845",
    "evil.example",
    "URI: ",
    "\u0000",
    "\u200b",
    "é",
    ":",
    "/",
    "%",
    "-",
  ];
  const edit = fc.record({
    at: fc.nat(good.length),
    cut: fc.nat(3),
    put: fc.oneof(fc.constantFrom(...pieces, ""), fc.string({ maxLength: 3 })),
  });
  const seen = { taken: 0 };
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      const text = edits.reduce(
        (now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut),
        good,
      );
      const message = readSiweMessage(text);
      if (message === undefined || judgeMessage(message, { site, nonceSeconds: 300, nowMs }) !== undefined)
        return true;
      seen.taken += 1;
      return taken.test(text) && text.includes(message.nonce) && text.includes(`\n${message.address}\n`);
    }),
    { numRuns: 3000 },
  );
  t.ok(seen.taken > 0, `${seen.taken} of 3000 were taken`);
  t.end();
});

t.test("the longest text that is taken is read quickly, whatever is in it", (t) => {
  const texts = [":", "a", "%41", "\n", "[1:", "- ", "- a:b\n", "0", "/"].flatMap((piece) => {
    const fill = (space: number) => piece.repeat(Math.ceil(space / piece.length)).slice(0, space);
    return [
      fill(2000),
      `${good}\nResources:\n${fill(1600)}`,
      withLine("URI", `${site.origin}/${fill(1600)}`),
      good.replace("Sign in.", fill(1600)),
    ];
  });
  const usedMs = () => process.cpuUsage().user / 1000;
  for (const text of texts) readSiweMessage(text);
  const beforeMs = usedMs();
  for (const text of texts) readSiweMessage(text);
  t.ok(
    (usedMs() - beforeMs) / texts.length < 50,
    `${Math.round(usedMs() - beforeMs)} ms for ${texts.length}`,
  );
  t.end();
});
