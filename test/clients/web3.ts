import type { Test } from "tap";
import { parseAbi } from "viem";
import { tallyBytecode, tallyInterface } from "./contract/tally.ts";
import { connect } from "./examples/web3.ts";
import { memberAt } from "./member-at.ts";
import { testRefusals } from "./refusals.ts";
import type { ClientRig } from "./rig.ts";

const abi = parseAbi(tallyInterface);

export async function testWeb3js(t: Test, rig: ClientRig): Promise<void> {
  const { receiver } = rig;
  const sender = rig.sender.address;
  await t.test("reads, sends, deploys, calls and decodes", async (t) => {
    const web3 = connect({ url: rig.gateway.url, key: rig.key });
    web3.eth.transactionPollingInterval = 100;
    web3.eth.accounts.wallet.add(rig.sender.privateKey);

    t.equal(await web3.eth.getChainId(), 8845n);
    const before = await web3.eth.getBalance(receiver);
    const nonce = await web3.eth.getTransactionCount(sender);
    const receipts = await Promise.all(
      ["1", "2"].map((value, index) =>
        web3.eth.sendTransaction({
          from: sender,
          to: receiver,
          value: web3.utils.toWei(value, "ether"),
          nonce: nonce + BigInt(index),
        }),
      ),
    );
    t.same(
      receipts.map(({ status }) => status),
      [1n, 1n],
    );
    t.equal(await web3.eth.getBalance(receiver), before + 3n * 10n ** 18n);
    t.equal(await web3.eth.getTransactionCount(sender), nonce + 2n);

    const tally = await new web3.eth.Contract(abi)
      .deploy({ data: tallyBytecode, arguments: [5n] })
      .send({ from: sender });
    // Its types do not find a function without parameters in an interface that is read-only.
    const readValue = () => tally.methods["value"]?.().call();
    t.equal(await readValue(), 5n);
    t.ok((await tally.methods.raise(7n).estimateGas({ from: sender })) > 21_000n);
    const { blockNumber } = await tally.methods.raise(7n).send({ from: sender });
    const logs = await tally.getPastEvents("Raised", { fromBlock: blockNumber, toBlock: blockNumber });
    t.match(
      logs.map((log) => memberAt(log, "returnValues")),
      [{ by: sender, value: 12n }],
    );
    t.equal(await readValue(), 12n);

    const tooMuch: unknown = await tally.methods
      .raise(101n)
      .call()
      .catch((error) => error);
    t.match(memberAt(tooMuch, "cause"), { errorName: "TooMuch", errorArgs: { asked: 101n, most: 100n } });
    const refused: unknown = await tally.methods
      .refuse()
      .estimateGas()
      .catch((error) => error);
    t.match(memberAt(refused, "cause.message"), "the tally is closed");

    t.type((await web3.eth.calculateFeeData()).gasPrice, "bigint");
    t.match(await web3.eth.getFeeHistory(4, "latest", [50]), { oldestBlock: BigInt });
  });

  await testRefusals(t, rig, {
    name: "web3.js",
    open(connection) {
      const web3 = connect(connection);
      return {
        read: () => web3.eth.getBalance(receiver),
        request: (method) => web3.requestManager.send({ method, params: [] }),
        async readBatch(count) {
          const batch = new web3.BatchRequest();
          const reads = Array.from({ length: count }, () =>
            batch.add({ method: "eth_getBalance", params: [receiver, "latest"] }),
          );
          // Each promise has its own call's outcome; `execute` itself resolves.
          const all = Promise.all(reads);
          all.catch(() => {});
          await batch.execute();
          return all;
        },
      };
    },
    describe: (error) => ({
      error: `${error instanceof Error ? error.name : "a plain object"}, ${memberAt(error, "code")}`,
      says: String(memberAt(error, "message")),
    }),
  });
}
