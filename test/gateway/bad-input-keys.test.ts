import t from "tap";
import { createApiKey } from "../../lib/keys/api-key.ts";
import { assertRefused, chainIdCall, startRig } from "../helpers/bad-input.ts";
import { coreKey, expiredKey, faucetOnlyKey, qaKey } from "../helpers/gateway.ts";
import { rawPost, rawRequest } from "../helpers/raw-http.ts";

t.test("a request whose key does not open JSON-RPC", async (t) => {
  const rig = await startRig(t);
  const { gateway } = rig;
  const ask = async (
    headers: Record<string, string>,
    { target = "/", more = [] as string[], body = chainIdCall } = {},
  ) => {
    const key = headers["X-API-Key"] ?? "";
    const sent = rawPost({ key, body, target, more, headers: { "X-API-Key": undefined, ...headers } });
    const { responses } = await rawRequest(gateway.port, sent);
    const [response] = responses;
    if (response === undefined) throw new Error("no answer came");
    return response;
  };
  const unknown = { status: 401, rpcCode: -32090, code: "api_key_invalid", idText: "7", says: /unknown/ };
  const missing = { status: 401, rpcCode: -32090, code: "api_key_missing", idText: "7", says: /X-API-Key/ };

  t.test("without a key: told which header to send", async (t) => {
    const response = await ask({});
    assertRefused(t, response, rig, missing);
    // RFC 9110 section 15.5.2: a 401 names at least one scheme.
    t.match(response.headers["www-authenticate"], /^ApiKey .*X-API-Key/);
  });

  t.test("an empty key is no key", async (t) =>
    assertRefused(t, await ask({ "X-API-Key": "" }), rig, missing),
  );

  t.test("a key in another header is no key", async (t) => {
    assertRefused(t, await ask({ Authorization: `Bearer ${coreKey}` }), rig, missing);
    assertRefused(t, await ask({ Cookie: `X-API-Key=${coreKey}` }), rig, missing);
  });

  t.test("an unknown key of any form", async (t) => {
    assertRefused(t, await ask({ "X-API-Key": "somebody-elses-key" }), rig, unknown);
    assertRefused(t, await ask({ "X-API-Key": createApiKey({ profile: "development" }) }), rig, unknown);
    assertRefused(t, await ask({ "X-API-Key": `${coreKey}, ${coreKey}` }), rig, {
      ...unknown,
      says: /mistyped|unknown/,
    });
    assertRefused(t, await ask({ "X-API-Key": "x".repeat(3000) }), rig, unknown);
    assertRefused(t, await ask({ "X-API-Key": "clé-inconnue-\xff\xfe" }), rig, unknown);
  });

  t.test("a mistyped key is told to be one", async (t) => {
    const swapped = coreKey.slice(0, -2) + coreKey.slice(-1) + coreKey.slice(-2, -1);
    assertRefused(t, await ask({ "X-API-Key": swapped }), rig, { ...unknown, says: /mistyped/ });
    assertRefused(t, await ask({ "X-API-Key": coreKey.slice(0, -1) }), rig, { ...unknown, says: /mistyped/ });
    assertRefused(t, await ask({ "X-API-Key": coreKey.toUpperCase() }), rig, unknown);
  });

  t.test("an expired key is told to be expired", async (t) => {
    const expired = { ...unknown, code: "api_key_expired", says: /expired/ };
    assertRefused(t, await ask({ "X-API-Key": expiredKey }), rig, expired);
  });

  t.test("a key without the permission rpc: 403", async (t) => {
    const response = await ask({ "X-API-Key": faucetOnlyKey });
    const says = /permission.*rpc/;
    assertRefused(t, response, rig, {
      status: 403,
      rpcCode: -32091,
      code: "insufficient_permission",
      idText: "7",
      says,
    });
  });

  t.test("the header twice, even with one and the same good key", async (t) => {
    const twice = {
      status: 400,
      rpcCode: -32600,
      code: "invalid_request",
      idText: "7",
      says: /X-API-Key.*more than once/,
    };
    for (const second of [coreKey, qaKey, ""]) {
      assertRefused(t, await ask({ "X-API-Key": coreKey }, { more: [`x-api-key: ${second}`] }), rig, twice);
    }
  });

  t.test("a key in the query is not taken, and the client is told where it belongs", async (t) => {
    for (const target of [`/?key=${coreKey}`, `/?X-API-Key=${coreKey}`, `/?${coreKey}`]) {
      const response = await ask({}, { target });
      assertRefused(t, response, rig, { ...missing, says: /header X-API-Key.*never.*URL/ });
      t.notMatch(response.body, coreKey, "the key is not repeated");
    }
  });

  t.test("a key in the path is not taken: 404 that tells where it belongs", async (t) => {
    for (const target of [`/${coreKey}`, `/v1/${coreKey}`, `/rpc/${coreKey}/`]) {
      const response = await ask({}, { target });
      t.equal(response.status, 404);
      t.equal(response.headers["content-type"], "application/problem+json");
      t.match(JSON.parse(response.body), { status: 404, code: "not_found", detail: /header X-API-Key/ });
      t.notMatch(response.body, coreKey, "the key is not repeated");
    }
    t.same(rig.stub.bodies, []);
  });

  t.test("the id is the request's own, byte for byte, wherever it can be read", async (t) => {
    const withId = (idText: string) => `{"jsonrpc":"2.0","method":"eth_chainId","id":${idText}}`;
    for (const idText of ["9007199254740993", "1.0", "1e3", '"\\u0061"', "null"]) {
      assertRefused(t, await ask({}, { body: withId(idText) }), rig, { ...missing, idText });
    }
    const unreadable = [
      "no JSON",
      `[${chainIdCall}]`,
      '{"jsonrpc":"2.0","method":"eth_chainId"}',
      withId("{}"),
    ];
    for (const body of unreadable)
      assertRefused(t, await ask({}, { body }), rig, { ...missing, idText: "null" });
  });

  t.test("no key that was sent, good or bad, is in the log", async (t) => {
    const log = gateway.logLines.join("");
    t.match(log, '"status":401', "the requests themselves are");
    for (const key of [coreKey, qaKey, expiredKey, faucetOnlyKey, "somebody-elses-key"]) t.notMatch(log, key);
  });
});
