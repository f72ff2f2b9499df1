import { once } from "node:events";
import { createServer } from "node:http";
import { Transaction } from "ethers";
import { z } from "zod";
import type { Teardown } from "../../helpers/teardown.ts";

/** Whether the node says no to a transaction, and whether it takes it all the same. */
export type Verdict = "taken" | "refused" | "refused, yet taken";

const sendSchema = z.object({
  id: z.number(),
  method: z.literal("eth_sendRawTransaction"),
  params: z.tuple([z.string()]),
});

/** A node in front of another one that refuses the transactions that `judge` says. */
export async function startRefusingNode(
  t: Teardown,
  { nodeUrl, judge }: { nodeUrl: string; judge: (transaction: Transaction) => Verdict },
): Promise<{ url: string }> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const send = sendSchema.safeParse(JSON.parse(body));
    const verdict = send.success ? judge(Transaction.from(send.data.params[0])) : "taken";
    const forward = () =>
      fetch(nodeUrl, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    response.setHeader("Content-Type", "application/json");
    if (verdict === "taken") return response.end(await (await forward()).text());
    if (verdict === "refused, yet taken") await forward();
    const error = { code: -32000, message: "sender account not authorized" };
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
