import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import t from "tap";
import {
  plainSignature,
  signWebhook,
  standardSignature,
} from "../../../../api/merchant/webhooks/sign-webhook.ts";
import { bytesOfSecret, createWebhookSecret } from "../../../../api/merchant/webhooks/webhook-secret.ts";

t.test("X-Svc-Signature is what GitHub publishes for its own", async (t) => {
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  t.equal(
    plainSignature("It's a Secret to Everybody", "Hello, World!"),
    "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  );
});

t.test("webhook-signature is what Standard Webhooks has for its example", async (t) => {
  // https://github.com/standard-webhooks/standard-webhooks, the libraries' tests.
  t.equal(
    standardSignature({
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      atUnix: 1_614_265_330,
      body: '{"test": 2432232314}',
    }),
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

t.test(
  "the two are keyed differently: by the secret's text, and by the bytes that it stands for",
  async (t) => {
    const secret = createWebhookSecret();
    t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    t.not(createWebhookSecret(), secret);
    t.equal(bytesOfSecret(secret).length, 32);
    const body = '{"a":"Rp\u00a0150.000"}';
    const fields = signWebhook({
      ...{ id: "evt_1", type: "invoice.paid", body, atUnix: 1_900_000_000 },
      secrets: { current: secret, next: undefined },
    });
    const byText = createHmac("sha256", secret).update(body).digest("hex");
    const byBytes = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
      .update(`evt_1.1900000000.${body}`)
      .digest("base64");
    t.match(fields, {
      "X-Svc-Event": "invoice.paid",
      "X-Svc-Signature": `sha256=${byText}`,
      "webhook-id": "evt_1",
      "webhook-timestamp": "1900000000",
      "webhook-signature": `v1,${byBytes}`,
    });
    t.notOk("X-Svc-Signature-Next" in fields);
  },
);

t.test("while a secret is changed both sign", async (t) => {
  const [current, next] = [createWebhookSecret(), createWebhookSecret()];
  const given = { id: "evt_1", body: "{}", atUnix: 1_900_000_000 };
  const fields = signWebhook({ ...given, type: "webhook.test", secrets: { current, next } });
  t.equal(fields["X-Svc-Signature"], plainSignature(current, "{}"));
  t.equal(fields["X-Svc-Signature-Next"], plainSignature(next, "{}"));
  t.equal(
    fields["webhook-signature"],
    [current, next].map((secret) => standardSignature({ ...given, secret })).join(" "),
  );
});

t.test(
  "the library of Standard Webhooks takes ours, with either secret during a change, and nothing else",
  async (t) => {
    const [current, next] = [createWebhookSecret(), createWebhookSecret()];
    const body = '{"note":"Rp\u00a0150.000 🧺"}';
    const signed = (
      atUnix = Math.floor(Date.now() / 1000),
      secrets = { current, next: undefined as string | undefined },
    ) => signWebhook({ id: "evt_1", type: "invoice.paid", body, atUnix, secrets });
    const fields = signed();
    t.same(new Webhook(current).verify(body, fields), JSON.parse(body));
    for (const secret of [current, next])
      t.same(new Webhook(secret).verify(body, signed(undefined, { current, next })), JSON.parse(body));
    t.throws(() => new Webhook(next).verify(body, fields), /No matching signature/);
    t.throws(() => new Webhook(current).verify(body.replace("150", "151"), fields), /No matching signature/);
    const old = signed(Math.floor(Date.now() / 1000) - 360);
    t.throws(() => new Webhook(current).verify(body, old), /too old/);
    t.throws(
      () =>
        new Webhook(current).verify(body, { ...old, "webhook-timestamp": fields["webhook-timestamp"] ?? "" }),
      /No matching/,
    );
    t.equal(
      new Webhook(current).sign("evt_1", new Date(Number(fields["webhook-timestamp"]) * 1000), body),
      fields["webhook-signature"],
    );
  },
);
