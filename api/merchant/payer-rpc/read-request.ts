import { z } from "zod";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { RpcId } from "./outcome.ts";

/** A call. Without an id it is a notification, which nobody is told of. */
export type RpcRequest = { id: RpcId | undefined; method: string; params: readonly unknown[] };
/** An item of a batch, or a request, that is no call. */
export type InvalidRequest = { id: RpcId; invalid: Refusal };
export type ReadRequest =
  | { kind: "single"; call: RpcRequest | InvalidRequest }
  | { kind: "batch"; calls: readonly (RpcRequest | InvalidRequest)[] };

const idCharactersMax = 200;
const methodCharactersMax = 100;

const id = z.union(
  [z.string().max(idCharactersMax), z.int(), z.null()],
  `Invalid Request: id must be a string of at most ${idCharactersMax} characters, a whole number or null`,
);
const object = z.looseObject({});
const version = z.literal("2.0", 'Invalid Request: jsonrpc must be the string "2.0"');
const method = z
  .string("Invalid Request: method must be a string")
  .max(methodCharactersMax, "Invalid Request: no method has so long a name");
const params = z
  .array(z.unknown(), "Invalid Request: params must be an array")
  .nullish()
  .transform((given) => given ?? []);
const request = z.object({ jsonrpc: version, id: id.optional(), method, params });

/** What a body asks for (JSON-RPC 2.0 sections 4 and 6), or why the whole of it is refused. */
export function readRequest(
  json: unknown,
  { batchItemsMax }: { batchItemsMax: number },
): ReadRequest | Refusal {
  if (!Array.isArray(json)) {
    const call = readCall(json);
    return isInvalid(call) && call.id === null ? call.invalid : { kind: "single", call };
  }
  if (json.length === 0) {
    return refusal("invalid_request", "Invalid Request: the batch is empty, send at least one request");
  }
  if (json.length > batchItemsMax) {
    return refusal(
      "invalid_request",
      `Invalid Request: a batch has at most ${batchItemsMax} items here, send the others in another`,
    );
  }
  return { kind: "batch", calls: json.map(readCall) };
}

function readCall(json: unknown): RpcRequest | InvalidRequest {
  const parsed = request.safeParse(json);
  if (parsed.success) return { ...parsed.data, id: parsed.data.id };
  const isObject = object.safeParse(json).success;
  const said = isObject ? parsed.error.issues[0]?.message : undefined;
  return {
    id: id.safeParse(object.safeParse(json).data?.["id"]).data ?? null,
    invalid: refusal("invalid_request", said ?? "Invalid Request: each request is an object"),
  };
}

export function isInvalid(call: RpcRequest | InvalidRequest): call is InvalidRequest {
  return "invalid" in call;
}
