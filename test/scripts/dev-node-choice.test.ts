import { pino } from "pino";
import t from "tap";
import { startInternalRpc } from "../../gateway/wallet-proxy/start-internal-rpc.ts";
import { createNodeChoice } from "../../scripts/dev/node-choice.ts";
import { startValidators } from "../fakes/validators/start-validators.ts";
import { waitFor } from "../helpers/wait-for.ts";

t.test(
  "the internal RPC goes on at another validator when the one that it asks dies, hangs or falls behind",
  async (t) => {
    const cluster = await startValidators(t, { count: 3 });
    await cluster.mine(2);
    const said: string[] = [];
    const [first, ...others] = cluster.urls.map((url, index) => ({
      name: `validator-${index + 1}`,
      url,
      webSocketUrl: url,
    }));
    if (first === undefined) throw new Error("no validator");
    const choice = createNodeChoice({
      nodes: [first, ...others],
      say: (text) => said.push(text),
      lookEveryMs: 20,
      timeoutMs: 500,
    });
    t.teardown(choice.stop);
    const rpc = await startInternalRpc(
      { port: 0, nodeUrl: first.url, node: choice.current },
      { logger: pino({ level: "silent" }) },
    );
    t.teardown(() => rpc.stop());
    const ask = async () => {
      const response = await fetch(rpc.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
      });
      return Object(await response.json()).result;
    };
    const chosen = async (name: string) =>
      t.ok(await waitFor(`${name} is chosen`, () => choice.current().name === name));
    t.equal(await ask(), "0x2");
    t.equal(choice.current().name, "validator-1");

    await cluster.validator(0).die();
    await chosen("validator-2");
    t.equal(await ask(), "0x2");
    await cluster.validator(0).comeBack();
    // A look that began before has not seen it.
    const looks = () => cluster.validator(0).callsOf("eth_blockNumber");
    const before = looks();
    await waitFor("it is looked at again", () => looks() >= before + 2);
    cluster.validator(1).hang();
    await chosen("validator-1");
    t.equal(await ask(), "0x2");
    await cluster.validator(1).heal();
    cluster.validator(0).freeze();
    cluster.validator(1).freeze();
    await cluster.mine(4);
    await chosen("validator-3");
    t.equal(await ask(), "0x6");
    t.equal(said.length, 3, "each change is said once");
  },
);
