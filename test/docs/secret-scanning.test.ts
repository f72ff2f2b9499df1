import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import t from "tap";
import { createSessionToken } from "../../api/merchant/session/session-token.ts";
import { createWebhookSecret } from "../../api/merchant/webhooks/webhook-secret.ts";
import { createApiKey, type Profile } from "../../lib/keys/api-key.ts";
import { findProgram } from "../../scripts/processes/find-program.ts";

const text = readFileSync(new URL("../../docs/secret-scanning.md", import.meta.url), "utf8");
const blocks = (language: string) =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , body = ""]) => body);
const [keyPattern = "", tokenPattern = "", webhookPattern = "", after = ""] = blocks("text");
const [rules = ""] = blocks("toml");
const regexes = [...rules.matchAll(/^regex = '''(.*)'''$/gm)].map(([, regex = ""]) => regex);

const profiles: Profile[] = ["development", "production"];
const keys = profiles.flatMap((profile) =>
  ["tg", "svc"].flatMap((prefix) => Array.from({ length: 50 }, () => createApiKey({ profile, prefix }))),
);
const tokens = Array.from({ length: 50 }, () => createSessionToken());
const webhookSecrets = Array.from({ length: 50 }, () => createWebhookSecret());
const around: [string, string][] = [
  ["", ""],
  ['"', '"'],
  ["key=", "\n"],
  ["Bearer ", ";"],
  ["(", ")"],
];
const notSecrets = [
  ...keys.flatMap((key) => [
    key.slice(0, -1),
    `${key}0`,
    `x${key}`,
    key.replace("_", "-"),
    key.toUpperCase(),
  ]),
  ...tokens.flatMap((token) => [token.slice(0, -1), `${token}-`, `a${token}`, token.replace("wst_", "wst-")]),
  ...webhookSecrets.flatMap((secret) => [
    secret.slice(0, -1),
    `${secret}A`,
    `a${secret}`,
    secret.replace("whsec_", "whsec-"),
    secret.replace("whsec_", "whsec_A"),
  ]),
  ...["tg_live_", "svc_dev_x", "tg_test_".padEnd(57, "0"), "wst_".padEnd(30, "a"), "a1".repeat(32)],
];

/** What the pattern finds in a text as GitHub looks: between what may stand before it and after it. */
function found(pattern: string, sample: string): string[] {
  const end = after.replace("\\z", "$");
  return [...sample.matchAll(new RegExp(`(?:^|[^0-9A-Za-z])(${pattern})(?:${end})`, "g"))].map(
    ([, secret = ""]) => secret,
  );
}

t.test("the patterns for GitHub find each key and token wherever it stands, and nothing else", (t) => {
  for (const [before, behind] of around) {
    for (const key of keys) t.same(found(keyPattern, before + key + behind), [key]);
    for (const token of tokens) t.same(found(tokenPattern, before + token + behind), [token]);
    for (const secret of webhookSecrets) t.same(found(webhookPattern, before + secret + behind), [secret]);
  }
  for (const [pattern, others] of [
    [keyPattern, [...tokens, ...webhookSecrets]],
    [tokenPattern, [...keys, ...webhookSecrets]],
    [webhookPattern, [...keys, ...tokens]],
  ] as const)
    for (const sample of [...notSecrets, ...others]) t.same(found(pattern, sample), [], sample);
  t.end();
});

t.test("so do the rules for gitleaks, whose keywords are in each", (t) => {
  t.equal(regexes.length, 3);
  const [key = /^$/, token = /^$/, webhook = /^$/] = regexes.map((regex) => new RegExp(regex));
  const keywords = [...rules.matchAll(/"(\w+_)"/g)].map(([, word = ""]) => word);
  for (const secret of [...keys, ...tokens, ...webhookSecrets]) {
    const rule = secret.startsWith("wst_") ? token : secret.startsWith("whsec_") ? webhook : key;
    const [, matched] = rule.exec(`a: "${secret}"`) ?? [];
    t.equal(matched, secret);
    t.ok(
      keywords.some((word) => secret.startsWith(word)),
      secret,
    );
  }
  for (const sample of notSecrets) for (const regex of [key, token, webhook]) t.notMatch(sample, regex);
  t.end();
});

const python = await findProgram({ names: ["python3"], path: process.env["PATH"] });

t.test(
  "the program tells keys from texts that look like one",
  { skip: python === undefined && "there is no Python" },
  (t) => {
    const [program = ""] = blocks("python");
    const mistyped = keys.map((key) => key.slice(0, -1) + (key.endsWith("a") ? "b" : "a"));
    const input = [...keys, ...mistyped, ...tokens, ...notSecrets]
      .map((secret) => `key: "${secret}"`)
      .join("\n");
    const { stdout, stderr } = spawnSync(python ?? "", ["-c", program], { input, encoding: "utf8" });
    t.equal(stderr, "");
    t.same(stdout.trim().split("\n"), keys);
    t.end();
  },
);
