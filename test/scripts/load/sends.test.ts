import { Transaction } from "ethers/transaction";
import t from "tap";
import { fateOfSend } from "../../../scripts/load/mix/fate-of-send.ts";
import { type AnvilUnderTest, startAnvil } from "../../helpers/anvil.ts";
import { loadReport, writeMix } from "./load-rig.ts";
import { result, type StubHandler, startStubGateway } from "./stub-gateway.ts";

const mixText = `
senders: { count: 3, receiptTimeoutMs: 20000 }
thresholds: { stuck: ["count<1"] }
items: [{ name: send, send: { to: $account, valueWei: 1 } }]
`;

/** Passes calls on to a real chain; `onSend` may answer the nth of the load's own transactions otherwise. */
function before(
  anvil: AnvilUnderTest,
  onSend: (
    sent: number,
    raw: string,
    exchange: Parameters<StubHandler>[1],
  ) => Promise<string | "refused" | undefined>,
) {
  const asked: string[] = [];
  const sent = { count: 0 };
  const handle: StubHandler = async (calls, exchange) => {
    const answers: string[] = [];
    for (const call of calls) {
      asked.push(`${call.method} ${call.params[1] ?? ""}`);
      // What funds the senders comes as an array, or before the load.
      const raw = String(call.params[0]);
      const isOwn = call.method === "eth_sendRawTransaction" && Transaction.from(raw).value === 1n;
      if (isOwn) {
        sent.count += 1;
        const answer = await onSend(sent.count, raw, exchange);
        if (answer === "refused") return undefined;
        if (answer !== undefined) {
          answers.push(result(call, answer));
          continue;
        }
      }
      answers.push(result(call, await anvil.rpc(call.method, call.params)));
    }
    return exchange.isBatch ? `[${answers.join(",")}]` : answers[0];
  };
  return { handle, asked, sent };
}

const refuse = (status: number, { response }: Parameters<StubHandler>[1]): "refused" => {
  response.writeHead(status).end("{}");
  return "refused";
};

t.test(
  "a refused transaction frees its nonce at once, one of unknown fate asks the chain, none is stuck",
  async (t) => {
    const anvil = await startAnvil(t);
    let landedUnseen = 0;
    const { handle, asked } = before(anvil, async (count, raw, exchange) => {
      if (count % 3 === 0) return refuse(429, exchange);
      if (count % 10 !== 0) return undefined;
      // It is in the chain, and nobody was told.
      await anvil.rpc("eth_sendRawTransaction", [raw]);
      landedUnseen += 1;
      return refuse(503, exchange);
    });
    const stub = await startStubGateway(t, handle);
    const mix = writeMix(t, mixText);
    const { report, code, err } = await loadReport([
      "--url",
      stub.url,
      "--mix",
      mix,
      "--rate",
      "20",
      "--duration",
      "3s",
    ]);
    t.equal(code, 0, err);
    const { sends } = report;
    if (sends === null) throw new Error("nothing is known of its sends");
    t.ok(sends.accepted > 20 && sends.refused >= 15 && landedUnseen > 0, JSON.stringify(sends));
    t.match(sends, {
      senders: 3,
      unknown: landedUnseen,
      landed: sends.accepted + landedUnseen,
      filled: 0,
      stuck: 0,
    });
    const pending = asked.filter((text) => text === "eth_getTransactionCount pending").length;
    t.equal(
      pending - sends.senders - 1,
      landedUnseen,
      "the chain is asked at the start, and after an unknown fate only",
    );
    const chain = await Promise.all(
      Array.from({ length: Number(await anvil.rpc("eth_blockNumber")) + 1 }, (_, number) =>
        anvil.rpc("eth_getBlockTransactionCountByNumber", [`0x${number.toString(16)}`]),
      ),
    );
    const inChain = chain.reduce((sum: number, count) => sum + Number(count), 0);
    t.equal(inChain, sends.landed + sends.senders, "each is in the chain, and so is the funding");
  },
);

t.test("a gap below accepted transactions is filled, so that the later ones are mined", async (t) => {
  const anvil = await startAnvil(t);
  const { handle } = before(anvil, async (count, raw) =>
    count === 4 ? (Transaction.from(raw).hash ?? "") : undefined,
  );
  const stub = await startStubGateway(t, handle);
  const mix = writeMix(t, mixText.replace("20000", "4000"));
  const { report, code } = await loadReport([
    "--url",
    stub.url,
    "--mix",
    mix,
    "--rate",
    "10",
    "--duration",
    "2s",
  ]);
  t.equal(code, 0);
  t.match(report.sends, { accepted: 20, landed: 20, filled: 1, stuck: 0 });
  t.match(report.notes, [/1 nonces were missing in the chain/]);
});

t.test("only what no validator can have kept frees a nonce", (t) => {
  const failed = (kind: "http" | "json-rpc" | "timeout" | "network", code: string, message = "no") =>
    fateOfSend({ ok: false, wasNotSent: false, faults: [{ kind, code, message, method: "a", calls: 1 }] });
  t.equal(failed("http", "429 rate_limited"), "refused");
  t.equal(failed("http", "401"), "refused");
  t.equal(failed("http", "408"), "unknown");
  t.equal(failed("http", "503"), "unknown");
  t.equal(failed("timeout", "no answer"), "unknown");
  t.equal(failed("network", "connection closed"), "unknown");
  t.equal(failed("json-rpc", "-32000", "insufficient funds for gas * price + value"), "refused");
  t.equal(failed("json-rpc", "-32004", "Upfront cost exceeds account balance"), "refused");
  t.equal(failed("json-rpc", "-32000", "nonce too low"), "unknown");
  t.equal(failed("json-rpc", "-32000", "replacement transaction underpriced"), "unknown");
  t.equal(failed("json-rpc", "-32603", "internal error"), "unknown");
  t.equal(fateOfSend({ ok: false, wasNotSent: true, faults: [] }), "refused");
  t.equal(fateOfSend({ ok: true, results: [] }), "accepted");
  t.end();
});
