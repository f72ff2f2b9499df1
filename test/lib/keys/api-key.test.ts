import { hash as cryptoHash } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import {
  checkApiKey,
  createApiKey,
  createKeyId,
  hashApiKey,
  type Profile,
} from "../../../lib/keys/api-key.ts";
import "../../helpers/property-seed.ts";

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
const profiles = fc.constantFrom<Profile>("development", "production");

t.test("a secret is the profile's prefix, 43 characters of randomness and 6 of checksum", async (t) => {
  t.match(createApiKey({ profile: "development" }), /^tg_dev_[0-9A-Za-z]{49}$/);
  t.match(createApiKey({ profile: "production" }), /^tg_live_[0-9A-Za-z]{49}$/);
  t.match(createApiKey({ profile: "production", prefix: "svc" }), /^svc_live_[0-9A-Za-z]{49}$/);
  t.not(createApiKey({ profile: "production" }), createApiKey({ profile: "production" }));
});

t.test("the same bytes always make the same secret, the lowest and the highest included", async (t) => {
  const make = (value: number) =>
    createApiKey({ profile: "development", randomBytes: (size) => new Uint8Array(size).fill(value) });
  // Computed by hand from the definition, with the CRC-32 of zlib.
  t.equal(make(0), `tg_dev_${"0".repeat(43)}3607Qu`);
  t.equal(make(255), "tg_dev_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp102vt0S");
});

t.test("no two secrets' bytes make the same text", async () => {
  fc.assert(
    fc.property(bytes, bytes, (left, right) => {
      const make = (random: Uint8Array) =>
        createApiKey({ profile: "development", randomBytes: () => random });
      return (make(left) === make(right)) === (Buffer.compare(left, right) === 0);
    }),
  );
});

t.test("what was made is valid", async () => {
  fc.assert(
    fc.property(bytes, profiles, (random, profile) => {
      const secret = createApiKey({ profile, randomBytes: () => random });
      return checkApiKey(secret) === "valid" && hashApiKey(secret) === cryptoHash("sha256", secret);
    }),
  );
});

t.test("any one character wrong, left out, doubled or swapped with its neighbour is mistyped", async (t) => {
  const secret = createApiKey({ profile: "production" });
  const errors = new Set<string>();
  for (let index = "tg_live_".length; index < secret.length; index += 1) {
    const [head, at, tail] = [secret.slice(0, index), secret.charAt(index), secret.slice(index + 1)];
    for (const letter of letters) errors.add(head + letter + tail);
    errors.add(head + tail).add(head + at + at + tail);
    errors.add(head + tail.charAt(0) + at + tail.slice(1));
  }
  errors.delete(secret);
  t.ok(errors.size > 49 * 61);
  t.strictSame(
    [...errors].filter((text) => checkApiKey(text) !== "mistyped"),
    [],
  );
});

t.test("a secret of one profile does not pass for one of the other", async (t) => {
  const secret = createApiKey({ profile: "development" });
  t.equal(checkApiKey(secret.replace("tg_dev_", "tg_live_")), "mistyped");
});

t.test(
  "a cut, quoted or spaced copy is mistyped, another service's key or any other text is foreign",
  async (t) => {
    const secret = createApiKey({ profile: "development" });
    const service = createApiKey({ profile: "development", prefix: "svc" });
    for (const text of [
      secret.slice(0, -1),
      `${secret} `,
      `${secret}"`,
      "tg_dev_",
      "tg_live_x",
      `${secret}\n`,
    ]) {
      t.equal(checkApiKey(text), "mistyped", JSON.stringify(text));
    }
    for (const text of ["", "tg_", "tg_test_abc", "TG_DEV_abc", "partner-qa-key", ` ${secret}`, service]) {
      t.equal(checkApiKey(text), "foreign", JSON.stringify(text));
    }
    t.equal(checkApiKey(service, "svc"), "valid");
    t.equal(checkApiKey(secret, "svc"), "foreign");
  },
);

t.test("no text makes the check throw", async () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      checkApiKey(text);
      return checkApiKey(`tg_dev_${text}`) === "mistyped";
    }),
  );
});

t.test("ids are short, random, and not made of the secret's bytes", async (t) => {
  t.match(createKeyId(), /^k_[0-9A-Za-z]{12}$/);
  const ids = new Set(Array.from({ length: 1_000 }, () => createKeyId()));
  t.equal(ids.size, 1_000);
});
