import t from "tap";
import type { ApiConfig } from "../../../../api/config.ts";
import { isPayerRpcEnabled, payerRpcUrlOf } from "../../../../api/merchant/payer-rpc/payer-rpc-config.ts";
import { startApi } from "../../support/start-api.ts";
import { startServices } from "../../support/start-world.ts";
import { send } from "../support/sign-in.ts";

/* Who may ask at all: nobody where it is off, pages of any origin where it is on. */

const { anvil: _anvil, ...services } = await startServices(t);
const origins = ["https://explorer.example", "https://www.example"];
const start = (more: (config: ApiConfig) => Partial<ApiConfig>) =>
  startApi(t, { ...services, change: (config) => ({ ...config, ...more(config) }) });
const production = (enabled: boolean | "") =>
  start((config) => ({ profile: "production", origins, payerRpc: { ...config.payerRpc, enabled } }));
const body = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
const shop = { Origin: "https://any-shop.example" };

t.test("in production there is none unless somebody asked for it", async (t) => {
  const api = await production("");
  t.match(await send(api, "/rpc", { body }), { status: 404, json: { code: "not_found" } });
});

t.test("in production pages of any origin may use it where it is on, and read nothing else", async (t) => {
  const api = await production(true);
  for (const path of ["/rpc", "/rpc/", "/rpc?from=wallet"]) {
    const answer = await send(api, path, { body, headers: shop });
    t.match([answer.status, answer.json], [200, { result: "0x228d" }], path);
    t.equal(answer.headers.get("access-control-allow-origin"), shop.Origin, path);
    t.equal(answer.headers.get("access-control-allow-credentials"), null, path);
    t.equal(answer.headers.get("cache-control"), "no-store", path);
  }
  const asked = {
    ...shop,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "content-type",
  };
  const preflight = await send(api, "/rpc", { method: "OPTIONS", headers: asked });
  t.equal(preflight.status, 204);
  t.match(preflight.headers.get("access-control-allow-methods"), /POST/);
  t.match(preflight.headers.get("access-control-allow-headers"), /Content-Type/);
  for (const path of ["/api/v1/chain", "/rpcs", "/rpc/x", "/api/v1/chain?x=/rpc"]) {
    const { headers } = await api.get(path, shop);
    t.equal(headers.get("access-control-allow-origin"), null, path);
  }
});

t.test("it is on in development, and off where somebody said so or where nothing can be paid", async (t) => {
  const on = await start(() => ({}));
  t.equal((await send(on, "/rpc", { body })).status, 200);
  const off = await start((config) => ({ payerRpc: { ...config.payerRpc, enabled: false } }));
  t.equal((await send(off, "/rpc", { body })).status, 404);
  const nothing = await start(() => ({ fees: undefined }));
  t.equal((await send(nothing, "/rpc", { body })).status, 404);
});

t.test("its address is told where it is on, below the public one", async (t) => {
  const config = { profile: "development", payerRpc: { enabled: "" }, fees: {} } as const;
  t.equal(payerRpcUrlOf({ ...config, publicUrl: "https://pay.example/" }), "https://pay.example/rpc");
  t.equal(payerRpcUrlOf({ ...config, publicUrl: "https://pay.example/a" }), "https://pay.example/a/rpc");
  const shipped = { ...config, profile: "production", publicUrl: "https://pay.example" } as const;
  t.equal(payerRpcUrlOf(shipped), undefined);
  t.equal(isPayerRpcEnabled({ ...shipped, payerRpc: { enabled: true } }), true);
});
