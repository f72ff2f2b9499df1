import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { readableId } from "../json-rpc/readable-id.ts";

const bytesMax = 16_384;
const waitMs = 1000;
const scanLimits = { depthMax: 64, batchItemsMax: 100 };

/**
 * Listens in on a body while it streams by, so that an answer of our own can carry the request's id. To be called before
 * the body is piped anywhere.
 *
 * @returns what gives the id as JSON text: `null` for a batch, a long body, or one that does not end within a second.
 */
export function overhearId(request: IncomingMessage): () => Promise<string> {
  let chunks: Buffer[] | undefined = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) chunks = undefined;
    chunks?.push(chunk);
  });
  return async () => {
    // The target of the pipe has gone, and that has paused the body.
    request.resume();
    if (!request.readableEnded) {
      await once(request, "end", { signal: AbortSignal.timeout(waitMs) }).catch(() => {});
    }
    if (!request.complete || chunks === undefined) return "null";
    return readableId(Buffer.concat(chunks), scanLimits);
  };
}
