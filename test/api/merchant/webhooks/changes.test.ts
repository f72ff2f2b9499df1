import { randomBytes } from "node:crypto";
import t from "tap";
import { createSealer } from "../../../../api/merchant/secrets/sealer.ts";
import {
  changesPerDayMax,
  enableWebhook,
  finishRotation,
  rotateSecret,
} from "../../../../api/merchant/webhooks/change-webhook.ts";
import { findEndpoint, openSecrets } from "../../../../api/merchant/webhooks/endpoint.ts";
import { saveWebhook } from "../../../../api/merchant/webhooks/save-webhook.ts";
import { sealSecretsAnew } from "../../../../api/merchant/webhooks/seal-secrets-anew.ts";
import { checksumAddress } from "../../../../lib/chain/checksum-address.ts";
import { isRefusal } from "../../../../lib/http-service/refusal.ts";
import { startOutbox } from "./support/start-outbox.ts";

const outbox = await startOutbox(t);
const { pool } = outbox;

/** A webhook, and its wallet as operations name it. */
async function addWebhook() {
  const endpoint = await outbox.addEndpoint("http://127.0.0.1:9/hook");
  const wallet = checksumAddress(`0x${endpoint.wallet.toString("hex")}`);
  const found = async () => {
    const row = await findEndpoint(pool, wallet);
    if (row === undefined) throw new Error("it is there");
    return row;
  };
  return { ...endpoint, wallet, found };
}

const [old, current] = [randomBytes(32), randomBytes(32)];
const [before, during, after] = [
  createSealer({ keys: [old] }),
  createSealer({ keys: [current, old] }),
  createSealer({ keys: [current] }),
];
const logger = { info() {} };

t.test("secrets outlive a change of the key that they are sealed under", async (t) => {
  const [quiet, rotating, fresh] = [await addWebhook(), await addWebhook(), await addWebhook()];
  const store = (id: string, sealed: Buffer, next: Buffer | null) =>
    outbox.rows(
      `update svc.webhook_endpoints set secret_sealed = $2, next_secret_sealed = $3,
        next_since = case when $3::bytea is null then null else now() end where id = $1`,
      [id, sealed, next],
    );
  await store(quiet.id, before.seal("one", quiet.id), null);
  await store(rotating.id, before.seal("two", rotating.id), before.seal("three", rotating.id));
  await store(fresh.id, during.seal("four", fresh.id), null);
  const untouched = await fresh.found();
  const changedAt = (await quiet.found()).changedAt;
  const sweep = sealSecretsAnew(pool, { sealer: during, logger });
  t.same(await sweep(), { hasMore: false });
  t.same(openSecrets(after, await quiet.found()), { current: "one", next: undefined });
  t.same(openSecrets(after, await rotating.found()), { current: "two", next: "three" });
  t.same(await fresh.found(), untouched);
  t.same((await quiet.found()).changedAt, changedAt, "to its merchant nothing has changed");
  await store(quiet.id, before.seal("one", quiet.id), null);
  const alone = sealSecretsAnew(pool, { sealer: after, logger });
  t.same(await alone(), { hasMore: false });
  t.equal(openSecrets(after, await quiet.found()), undefined, "what no key opens is left as it is");
  t.same(openSecrets(before, await quiet.found()), { current: "one", next: undefined });
});

t.test("a secret that cannot be read any more is replaced at once", async (t) => {
  const { wallet, found, id } = await addWebhook();
  await outbox.rows("update svc.webhook_endpoints set secret_sealed = $2 where id = $1", [
    id,
    before.seal("lost", id),
  ]);
  const rotated = await rotateSecret({ pool, wallet, sealer: after });
  if ("refused" in rotated) throw new Error(rotated.detail);
  t.same(openSecrets(after, await found()), { current: rotated.secret, next: undefined });
});

t.test("a webhook has so many changes in a day, and what changes nothing is none", async (t) => {
  const { wallet, found } = await addWebhook();
  const save = (url: string) => {
    const given = { pool, wallet, url, orderId: undefined, sealer: after };
    return saveWebhook({ ...given, secretAgainMs: 0, nowMs: Date.now() });
  };
  const noted = async () =>
    (await outbox.rows("select 1 from svc.audit_log where wallet = decode($1, 'hex')", [wallet.slice(2)]))
      .length;
  for (let time = 0; time < 3; time += 1) {
    await save("http://127.0.0.1:9/hook");
    await enableWebhook({ pool, wallet });
    await finishRotation({ pool, wallet });
  }
  t.equal(await noted(), 0);
  for (let count = 0; count < changesPerDayMax; count += 1) {
    t.notOk(isRefusal(await save(`http://127.0.0.1:9/${count}`)));
  }
  t.match(await save("http://127.0.0.1:9/one-more"), { refused: "rate_limited" });
  t.match(await rotateSecret({ pool, wallet, sealer: after }), { refused: "rate_limited" });
  t.equal((await found()).url, `http://127.0.0.1:9/${changesPerDayMax - 1}`);
  t.equal(await noted(), changesPerDayMax);
  await outbox.rows("update svc.audit_log set at = at - interval '1 day'");
  t.notOk(isRefusal(await save("http://127.0.0.1:9/one-more")), "the day is over");
});
