import t from "tap";
import type { FaucetConfig } from "../../faucet/config.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { reloadInTurn } from "../helpers/ask-reload.ts";
import { startRedis } from "../helpers/redis.ts";
import { randomAddress } from "./support/outside-wallet.ts";
import { startFaucet } from "./support/start-faucet.ts";

t.test("the limits of a running faucet change; its wallet and what else is fixed does not", async (t) => {
  const redis = await startRedis(t);
  const anvil = await startAnvil(t);
  const address = randomAddress();
  let next: FaucetConfig | undefined;
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: [{ address }],
    readAgain: () => (next === undefined ? { problems: ["nothing was written"] } : { config: next }),
  });
  const first = await faucet.claim({ address, website: "" });
  t.equal(first.status, 202);
  t.equal((await faucet.claim({ address, website: "" })).status, 429, "one a day");

  const { config } = faucet;
  next = { ...config, limits: { ...config.limits, perAddress: 2 } };
  t.match(await reloadInTurn(faucet, "?dry-run"), { status: 200, body: { outcome: "checked" } });
  t.equal((await faucet.claim({ address, website: "" })).status, 429);
  t.match(await reloadInTurn(faucet), {
    status: 200,
    body: { outcome: "changed", changes: [{ path: "limits.perAddress", from: 1, to: 2 }] },
  });
  const { status, json } = await faucet.claim({ address, website: "" });
  t.equal(status, 202);
  t.match(await faucet.ended(json.claim.id), { status: "confirmed" }, "the payer knows the new limit, too");
  t.equal((await faucet.claim({ address, website: "" })).status, 429);

  const privateKey = `0x${"77".repeat(32)}`;
  next = {
    ...next,
    wallet: { kind: "development", privateKey },
    limits: { ...config.limits, windowMs: 1, perAddress: 1000 },
  };
  const { status: code, body } = await reloadInTurn(faucet);
  t.equal(code, 409);
  t.same(body.problems, [
    "limits.windowMs cannot change without a restart",
    "wallet.privateKey cannot change without a restart",
  ]);
  t.notMatch(JSON.stringify(body) + faucet.logLines.join(""), privateKey);
  t.equal((await faucet.claim({ address, website: "" })).status, 429, "nothing of it is taken");
});
