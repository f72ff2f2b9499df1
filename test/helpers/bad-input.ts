import type { Test } from "tap";
import { type StubValidator, startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey, type GatewayUnderTest, startGateway } from "./gateway.ts";
import { type RawOutcome, type RawResponse, rawPost } from "./raw-http.ts";
import { startRedis } from "./redis.ts";

export type Rig = { gateway: GatewayUnderTest; stub: StubValidator };

/** A gateway before one stub validator, both until the test ends. */
export async function startRig(t: Test): Promise<Rig> {
  const [redis, stub] = await Promise.all([startRedis(t), startStubValidator(t)]);
  return { stub, gateway: await startGateway(t, { redisUrl: redis.url, upstreams: [stub.url] }) };
}

/** What a client is to be told. */
export type ExpectedRefusal = {
  status: number;
  rpcCode: number;
  /** `error.data.code`. */
  code: string;
  /** The bytes of the id, one a character; `null` unless told otherwise. */
  idText?: string;
  /** What the message says to do or what is wrong. */
  says: RegExp;
};

/** Asserts that a request was refused with exactly one JSON-RPC error and that no validator has seen a byte of it. */
export function assertRefused(
  t: Test,
  {
    status,
    headers,
    body,
  }: { status: number | undefined; headers: Headers | RawResponse["headers"]; body: string },
  { stub }: Pick<Rig, "stub">,
  expected: ExpectedRefusal,
): void {
  t.equal(status, expected.status, "HTTP status");
  const contentType = headers instanceof Headers ? headers.get("content-type") : headers["content-type"];
  t.equal(contentType, "application/json");
  t.match(JSON.parse(body), {
    jsonrpc: "2.0",
    error: { code: expected.rpcCode, message: expected.says, data: { code: expected.code } },
  });
  t.match(body, `{"jsonrpc":"2.0","id":${expected.idText ?? "null"},"error":{`, "id");
  t.same(stub.bodies, [], "nothing reached the validator");
}

/** As `assertRefused`, of what came over a raw connection. */
export function assertRawRefused(
  t: Test,
  outcome: RawOutcome,
  rig: Pick<Rig, "stub">,
  expected: ExpectedRefusal,
): void {
  const [response] = outcome.responses;
  if (response === undefined) {
    t.fail("no answer came", { outcome });
    return;
  }
  assertRefused(t, response, rig, expected);
}

/** Asserts that a good call passes, which shows that what came before it neither arrived nor broke anything. */
export async function assertOnlyGoodCallArrives(t: Test, { gateway, stub }: Rig): Promise<void> {
  const good = await gateway.post({ jsonrpc: "2.0", id: 1, method: "net_version" });
  t.equal(good.status, 200);
  t.equal(stub.bodies.length, 1, "the good call is the only one that reached the validator");
  t.match(stub.bodies[0], '"method":"net_version"');
  stub.bodies.length = 0;
}

/** A whole POST with the core development key. */
export function post(body: string, more: Omit<Parameters<typeof rawPost>[0], "key" | "body"> = {}): string {
  return rawPost({ key: coreKey, body, ...more });
}

export const chainIdCall = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}';
