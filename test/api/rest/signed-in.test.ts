import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { waitFor } from "../../helpers/wait-for.ts";
import { send } from "../merchant/support/sign-in.ts";
import { buyKey, newcomer, orderWebhook, payOrder, startShop } from "../merchant/support/start-shop.ts";
import { startReceiver } from "../merchant/webhooks/support/start-receiver.ts";
import { findTool, runTool, schemathesisConfig } from "./support/tools.ts";

const schemathesis = await findTool("schemathesis");
const webhooks = "/api/v1/svc-dev/webhooks";

t.test(
  "what is served to a key and to a session is as it is described",
  { skip: schemathesis.skip, timeout: 300_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-signed-in-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "schemathesis.toml"), schemathesisConfig);
    const shop = await startShop(t, {
      change: (config) => ({
        ...config,
        limits: { ...config.limits, points: 1_000_000 },
        session: { ...config.session, noncesPerMinute: 1_000_000, signInsPerMinute: 1_000_000 },
      }),
    });
    const { api, anvil } = shop;
    const merchant = await newcomer(api);
    const receiver = await startReceiver(t);
    const order = await orderWebhook(api, merchant.headers, receiver.url);
    await payOrder(anvil, order);
    await waitFor("it has a webhook", async () => {
      const body = { url: receiver.url, orderId: order.id };
      return (await send(api, webhooks, { headers: merchant.headers, body })).status === 201;
    });
    await send(api, `${webhooks}/test`, { headers: merchant.headers, body: {} });
    const { secret } = await buyKey(shop, merchant.headers);
    const [beginner, ending] = [await newcomer(api), await newcomer(api)];
    const bearer = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
      `Authorization: ${headers["Authorization"]}`;

    const runs: Record<string, readonly string[]> = {
      "a key": ["-H", `X-Svc-Dev-Key: ${secret}`, "--include-path-regex", "^/api/v1/svc-dev/v1/"],
      "a session": [
        ...["-H", bearer(merchant), "--include-path-regex", "^/api/v1/svc-dev/(?!v1/|sessions?$)"],
        // It would have us send to hosts of somebody.
        ...["--exclude-operation-id", "saveWebhook"],
      ],
      "a wallet without a webhook": ["-H", bearer(beginner), "--include-operation-id", "saveWebhook"],
      "a session that ends itself": [
        "-H",
        bearer(ending),
        "--include-path-regex",
        "^/api/v1/svc-dev/sessions?$",
      ],
    };
    for (const [who, args] of Object.entries(runs)) {
      const { code, out } = await runTool(
        schemathesis.path,
        [
          ...[
            "--no-color",
            "run",
            `${api.url}/api/v1/openapi.json`,
            "--workers",
            "1",
            "--max-examples",
            "10",
          ],
          // Ids of what there is not are refused, and a schema cannot say which there are.
          // It spoils one credential and leaves the other one, which is good: test/api/merchant/strangers tries them all.
          ...["--exclude-checks", "positive_data_acceptance,ignored_auth"],
          ...["--phases", "examples,coverage,fuzzing"],
          ...["--generation-database", "none", ...args],
        ],
        folder,
      );
      t.equal(code, 0, `${who}: ${out.slice(-8000)}`);
      t.match(out, /Seed: \d+/, "its seed repeats a run: --seed");
    }
    const stillGood = await api.get("/api/v1/svc-dev/v1/invoices", { "X-Svc-Dev-Key": secret });
    t.equal(stillGood.status, 200, "and nothing of it took the key away");
    t.equal((await api.get("/api/v1/svc-dev/session", merchant.headers)).status, 200, "nor the session");
  },
);
