import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { type AnswerCall, answerBody, type BodyAnswer } from "./answer-body.ts";
import { readHttpBody } from "./besu-framing.ts";
import { type CallCounters, countRequest } from "./call-counters.ts";
import { delay } from "./delay.ts";
import type { BrokenAnswer, Faults } from "./faults.ts";
import type { createWorkerSlots } from "./worker-slots.ts";

const bodyBytesMax = 5 * 1_024 * 1_024; // Besu's `rpc-http-max-request-content-length`

/** Besu's HTTP side: its paths, its words, and what a fault makes of them. */
export function createHttpAnswers({
  faults,
  counters,
  workers,
  answerCall,
}: {
  faults: Faults;
  counters: CallCounters;
  workers: ReturnType<typeof createWorkerSlots>;
  answerCall: AnswerCall;
}): RequestListener {
  async function answerRpc(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bodyText = await readBody(request);
    if (bodyText === undefined) return sendText(response, 413, "text/html", "Request Entity Too Large");
    const body = readHttpBody(bodyText);
    countRequest(counters, bodyText, body);
    counters.inFlight += 1;
    counters.inFlightMax = Math.max(counters.inFlightMax, counters.inFlight);
    try {
      await faults.responsive;
      // Without a single call being run: it is the process in front of the node that answers.
      if (faults.refusedWith !== undefined) return sendStatus(response, faults.refusedWith);
      const answer = await workers.run(async () => {
        if (faults.delayMs > 0) await delay(faults.delayMs);
        return await answerBody(body, answerCall, faults);
      });
      // A hang may have begun meanwhile.
      await faults.responsive;
      if (response.destroyed) return;
      if (faults.broken === undefined) sendJson(request, response, answer);
      else sendBroken(response, answer, faults.broken);
    } finally {
      counters.inFlight -= 1;
    }
  }

  return (request, response) => {
    response.on("error", () => {});
    const path = request.url?.split("?")[0];
    if (request.headers.origin !== undefined) {
      sendText(response, 403, undefined, "Exception thrown handling RPC");
      return;
    }
    if (request.method === "POST" && path === "/") {
      answerRpc(request, response).catch(() => {
        // A client that goes away in the midst of its body leaves nobody to answer.
        if (request.complete && !response.headersSent) sendStatus(response, 500);
        else response.destroy();
      });
      return;
    }
    void faults.responsive.then(() => answerOtherPath(request.method, path, response));
  };
}

function answerOtherPath(
  method: string | undefined,
  path: string | undefined,
  response: ServerResponse,
): void {
  if (method === "GET" && (path === "/liveness" || path === "/readiness")) {
    // Also while the chain stands still: only the height tells that.
    sendText(response, 200, "application/json", '{\n  "status" : "UP"\n}');
  } else if (method === "GET" && path === "/") {
    sendText(response, 201, undefined, "");
  } else {
    sendText(response, 404, "text/html", "<html><body><h1>Resource not found</h1></body></html>");
  }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  }
  return bytes > bodyBytesMax ? undefined : Buffer.concat(chunks).toString("utf8");
}

function sendJson(request: IncomingMessage, response: ServerResponse, { status, text }: BodyAnswer): void {
  const gzip = String(request.headers["accept-encoding"] ?? "").includes("gzip");
  response.writeHead(status, {
    vary: "origin",
    "content-type": "application/json",
    ...(gzip ? { "content-encoding": "gzip" } : {}),
  });
  // Written before `end` with its own header there is no content length: chunks, as Besu answers.
  response.end(gzip ? gzipSync(text) : text);
}

function sendText(response: ServerResponse, status: number, type: string | undefined, text: string): void {
  const headers = {
    "content-length": Buffer.byteLength(text),
    ...(type === undefined ? {} : { "content-type": type }),
  };
  response.writeHead(status, headers).end(text);
}

function sendStatus(response: ServerResponse, status: number): void {
  sendText(response, status, "text/html", `<html><body><h1>${status}</h1></body></html>`);
}

function sendBroken(response: ServerResponse, answer: BodyAnswer, broken: BrokenAnswer): void {
  if (broken.kind === "garbage") {
    sendText(response, 200, "application/json", broken.body);
    return;
  }
  const half = answer.text.slice(0, Math.floor(answer.text.length / 2));
  const length = { "content-length": Buffer.byteLength(answer.text) };
  response.writeHead(200, {
    "content-type": "application/json",
    ...(broken.framing === "length" ? length : {}),
  });
  response.write(half, () => {
    if (broken.framing !== "stalled") response.destroy();
  });
}
