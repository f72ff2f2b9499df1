import type { FoundKey } from "../../lib/keys/key-reader.ts";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { andThen, guarded } from "../maybe-promise.ts";
import type { Exchange, Reply } from "../server/exchange.ts";
import { type FaucetClient, joinLimits } from "./faucet-client.ts";
import type { PipelineDependencies, RequestContext, Route } from "./request-context.ts";
import { clientGone, overloaded, problemResponse, type Response } from "./response.ts";
import { authenticate, checkPermission } from "./stages/authenticate.ts";
import { charge, chargeRefusal } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { checkHttp, checkRequest, notFound, read } from "./stages/read.ts";

const claimBytesMax = 4096;
const claimPath = /^\/faucet\/claims\/([0-9a-f]{32})$/;

/** `POST /faucet/claim`: a claim on behalf of the key's team, passed on to the faucet's private address. */
export const claimFromFaucet: Route = (exchange, context) => {
  const { deps, respond, fail } = context;
  const limits = { ...deps.limits, bodyBytesMax: claimBytesMax, isClaim: true };
  const malformed = checkRequest(exchange.head, limits);
  const found = authenticate(exchange, deps);
  if (found instanceof Promise && malformed === undefined && exchange.head.apiKey !== undefined) {
    exchange.hold(limits);
  }
  const onKey = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) return respond(problemResponse(malformed ?? key));
    exchange.prove();
    const refused = malformed ?? checkFaucetKey(exchange, key);
    if (refused !== undefined) return refuseCharged(refused, key, context);
    const onBody = (body: Uint8Array | Refusal | "aborted") => {
      if (body === "aborted") return respond(clientGone);
      if (isRefusal(body)) return refuseCharged(body, key, context);
      if (!context.enter()) return refuseCharged(overloaded, key, context);
      const { team } = key;
      const { idempotencyKey } = exchange.head;
      const copy = body.slice();
      // Claims are rare enough for promises.
      askFaucet(key, deps, { ask: (faucet) => faucet.claim(copy, { team, idempotencyKey }), isClaim: true })
        .then(respond)
        .catch(fail);
    };
    read(exchange, { limits, keyId: key.id }, guarded(onBody, fail));
  };
  andThen(found, onKey, fail);
};

/** `GET /faucet/claims/:id`: the claim as it is now. */
export const followClaim: Route = (exchange, context) => {
  const { deps, respond, fail } = context;
  const { head } = exchange;
  const [, id] = claimPath.exec(head.path) ?? [];
  const malformed =
    checkHttp(head) ?? (id === undefined ? notFound(head) : head.method === "GET" ? undefined : onlyGet);
  const onKey = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) return respond(problemResponse(malformed ?? key));
    exchange.prove();
    const refused = malformed ?? checkFaucetKey(exchange, key);
    if (refused !== undefined || id === undefined) {
      return refuseCharged(refused ?? notFound(head), key, context);
    }
    if (!context.enter()) return refuseCharged(overloaded, key, context);
    askFaucet(key, deps, { ask: (faucet) => faucet.find(id), isClaim: false })
      .then(respond)
      .catch(fail);
  };
  andThen(authenticate(exchange, deps), onKey, fail);
};

function checkFaucetKey({ head }: Exchange, key: FoundKey): Refusal | undefined {
  return checkPermission(key, "faucet") ?? checkOrigin(head, key);
}

/** Refuses a request with a good key as a problem document; it costs as a call does. */
export function refuseCharged(
  refused: Refusal,
  key: FoundKey,
  { deps, respond, fail }: RequestContext,
): void {
  const onCharged = (why: Refusal) => respond(problemResponse(why, key.id));
  andThen(chargeRefusal(refused, {}, key, deps), onCharged, fail);
}

async function askFaucet(
  key: FoundKey,
  { limiter, limits, faucet }: PipelineDependencies,
  { ask, isClaim }: { ask: (faucet: FaucetClient) => Promise<Reply | Refusal>; isClaim: boolean },
): Promise<Response> {
  const { calls, headers, isDegraded } = await charge(
    [{ idText: "null", kind: "refused", refusal: noClaims }],
    { key, limiter, requestsPerMinute: limits.requestsPerMinute },
  );
  const [charged] = calls;
  if (charged?.kind === "refused" && charged.refusal !== noClaims) {
    return problemResponse({ ...charged.refusal, headers }, key.id);
  }
  // Redis counts who may claim how often. Without it the gateway takes no claim.
  const answered = isDegraded && isClaim ? noClaims : await ask(faucet);
  if (isRefusal(answered)) {
    return problemResponse({ ...answered, headers: { ...answered.headers, ...headers } }, key.id);
  }
  return { reply: { ...answered, headers: joinLimits(headers, answered.headers) }, keyId: key.id };
}

const onlyGet = refusal("method_not_allowed", "Use GET to follow a claim", { headers: { Allow: "GET" } });
const noClaims = refusal(
  "upstream_unavailable",
  "The faucet accepts no claims at the moment; try again shortly",
);
