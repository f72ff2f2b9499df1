import { randomUUID } from "node:crypto";
import type { FoundKey } from "../../lib/keys/key-reader.ts";
import { askedHeaders } from "../explorer/asked-headers.ts";
import { refusalPage } from "../explorer/refusal-page.ts";
import { readTarget } from "../explorer/target.ts";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { andThen, guarded } from "../maybe-promise.ts";
import type { Exchange, RequestHead } from "../server/exchange.ts";
import { explorerPath } from "../server/page-headers.ts";
import { joinLimits } from "./faucet-client.ts";
import type { PipelineDependencies, RequestContext, Route } from "./request-context.ts";
import { clientGone, overloaded, problemResponse, type Response } from "./response.ts";
import { authenticate, checkPermission } from "./stages/authenticate.ts";
import { chargeRefusal, chargeRequest } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { checkHttp, checkRequest, read } from "./stages/read.ts";

/** A query of GraphQL; the API itself takes no more. */
const queryBytesMax = 65_536;

/** `/explorer/…`: what the API serves at `/`, for keys with the permission `explorer`. */
export const showExplorer: Route = (exchange, context) => {
  const { deps, respond, fail } = context;
  const { head } = exchange;
  // Nothing may be read behind a body in chunks, and a long answer has the library read on.
  const limits = { ...deps.limits, bodyBytesMax: queryBytesMax, chunkedBodies: "refuse" } as const;
  const asked = readTarget(head);
  const hasBody = head.method === "POST";
  const malformed =
    checkHttp(head) ??
    (isRefusal(asked) ? asked : undefined) ??
    (hasBody ? checkRequest(head, limits) : checkBodiless(head));
  const found = authenticate(exchange, deps);
  if (found instanceof Promise && malformed === undefined && hasBody && head.apiKey !== undefined) {
    exchange.hold(limits);
  }
  const onKey = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) return respond(refusedResponse(malformed ?? key, head));
    exchange.prove();
    const refused = malformed ?? checkPermission(key, "explorer") ?? checkOrigin(head, key);
    if (refused !== undefined || isRefusal(asked)) {
      return refuseCharged(refused ?? overloaded, { key, head }, context);
    }
    const onBody = (body: Uint8Array | Refusal | "aborted" | undefined) => {
      if (body === "aborted") return respond(clientGone);
      if (body !== undefined && isRefusal(body)) return refuseCharged(body, { key, head }, context);
      if (!context.enter()) return refuseCharged(overloaded, { key, head }, context);
      const copy = body?.slice();
      // Pages are rare enough for promises.
      askExplorer(exchange, { key, target: asked.target, body: copy }, deps).then(respond).catch(fail);
    };
    if (hasBody) read(exchange, { limits, keyId: key.id }, guarded(onBody, fail));
    else onBody(undefined);
  };
  andThen(found, onKey, fail);
};

function checkBodiless({ contentLength, transferEncodings }: RequestHead): Refusal | undefined {
  const isBodiless = transferEncodings === undefined && Number(contentLength ?? 0) === 0;
  return isBodiless ? undefined : bodiless;
}

const bodiless = refusal("invalid_request", "A page of the explorer is asked for without a body", {
  headers: { Connection: "close" },
});

async function askExplorer(
  { head, peerAddress }: Exchange,
  { key, target, body }: { key: FoundKey; target: string; body: Uint8Array | undefined },
  deps: PipelineDependencies,
): Promise<Response> {
  const { limiter, limits, methods, openAnswers, explorer, clientAddress } = deps;
  const { page } = head;
  if (page === undefined) throw new Error("the head of a request to the explorer was read as another one's");
  const peer = peerAddress();
  const { refused, headers } = await chargeRequest(methods.explorerCost, {
    key,
    limiter,
    requestsPerMinute: limits.requestsPerMinute,
  });
  const refuse = (why: Refusal) =>
    refusedResponse({ ...why, headers: { ...why.headers, ...headers } }, head, key.id);
  if (refused !== undefined) return refuse(refused);
  if (head.path === explorerPath) {
    const query = head.query === "" ? "" : `?${head.query}`;
    return redirect(`${explorerPath}/${query}`, { headers, keyId: key.id });
  }
  const place = openAnswers.take(key);
  if (isRefusal(place)) return refuse(place);
  const forwardedProto = clientAddress.isTrustedProxy(peer) ? page.forwardedProto : undefined;
  const asked = {
    method: head.method,
    target,
    headers: askedHeaders({
      page,
      contentType: body === undefined ? undefined : "application/json",
      clientAddress: clientAddress.of({ peer, forwardedFor: head.forwardedFor }),
      scheme: (forwardedProto ?? (deps.isTls ? "https" : "http")) === "https" ? "https" : "http",
    }),
    body,
  };
  const answered = await explorer.ask(asked, place).catch((error) => {
    place.leave();
    throw error;
  });
  if (isRefusal(answered)) return refuse(answered);
  return { reply: { ...answered, headers: joinLimits(headers, answered.headers) }, keyId: key.id };
}

/** The explorer's links count from a folder. */
function redirect(
  location: string,
  { headers, keyId }: { headers: Readonly<Record<string, string>>; keyId: string },
): Response {
  return {
    reply: { status: 308, headers: { ...headers, Location: location }, body: undefined },
    keyId,
  };
}

function refuseCharged(
  refused: Refusal,
  { key, head }: { key: FoundKey; head: RequestHead },
  { deps, respond, fail }: RequestContext,
): void {
  const onCharged = (why: Refusal) => respond(refusedResponse(why, head, key.id));
  andThen(chargeRefusal(refused, {}, key, deps), onCharged, fail);
}

/** A page where a browser asks, a problem document for programs. */
function refusedResponse(refused: Refusal, { page }: RequestHead, keyId?: string): Response {
  if (!/\btext\/html\b/i.test(page?.accept ?? "")) return problemResponse(refused, keyId);
  const requestId = randomUUID();
  const reply = refusalPage(refused, requestId);
  return { reply, refused, requestId, ...(keyId === undefined ? {} : { keyId }) };
}
