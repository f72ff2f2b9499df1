import { request } from "undici";

export type Posted = { status: number; text: string };

const timeoutMs = 5000;

/** One JSON-RPC request over HTTP, as a client sends it. Rejects where no answer comes. */
export async function post(url: string, { key, body }: { key?: string; body: string }): Promise<Posted> {
  const { statusCode, body: answer } = await request(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === undefined ? {} : { "x-api-key": key }) },
    body,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return { status: statusCode, text: await answer.text() };
}
