import { once } from "node:events";
import { createServer } from "node:http";
import { Transaction } from "ethers/transaction";
import { z } from "zod";
import type { Teardown } from "../../../scripts/processes/teardown.ts";

/** What becomes of a transaction: the node's, refused by it in its words, or whatever else stands between answers. */
export type Verdict =
  | "taken"
  | "refused"
  | "connection lost"
  | { error: { code: number; message: string; data?: object } }
  | { status: number; body: string };

const sendSchema = z.object({
  id: z.number(),
  method: z.literal("eth_sendRawTransaction"),
  params: z.tuple([z.string()]),
});

const refused = { code: -32007, message: "Sender account not authorized to send transactions" };

/** A node in front of another one that answers transactions as `judge` says. */
export async function startRefusingNode(
  t: Teardown,
  { nodeUrl, judge }: { nodeUrl: string; judge: (transaction: Transaction) => Verdict },
): Promise<{ url: string }> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const send = sendSchema.safeParse(JSON.parse(body));
    const verdict = send.success ? judge(Transaction.from(send.data.params[0])) : "taken";
    if (verdict === "connection lost") return request.socket.destroy();
    response.setHeader("Content-Type", "application/json");
    if (verdict === "taken") {
      const headers = { "Content-Type": "application/json" };
      return response.end(await (await fetch(nodeUrl, { method: "POST", headers, body })).text());
    }
    if (verdict !== "refused" && "status" in verdict) {
      response.statusCode = verdict.status;
      return response.end(verdict.body);
    }
    const error = verdict === "refused" ? refused : verdict.error;
    return response.end(JSON.stringify({ jsonrpc: "2.0", id: send.data?.id, error }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  t.teardown(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return { url: `http://127.0.0.1:${address.port}` };
}
