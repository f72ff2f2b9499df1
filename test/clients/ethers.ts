import {
  Contract,
  ContractFactory,
  FetchRequest,
  isError,
  JsonRpcProvider,
  parseEther,
  Wallet,
} from "ethers";
import type { Test } from "tap";
import { tallyBytecode, tallyInterface } from "./contract/tally.ts";
import { connect } from "./examples/ethers.ts";
import { memberAt } from "./member-at.ts";
import { type ClientUnderTest, testRefusals } from "./refusals.ts";
import type { ClientRig } from "./rig.ts";

export async function testEthers(t: Test, rig: ClientRig): Promise<void> {
  const { sender, receiver } = rig;
  await t.test("reads, sends, deploys, calls and decodes", async (t) => {
    const provider = connect({ url: rig.gateway.url, key: rig.key });
    t.teardown(() => provider.destroy());
    provider.pollingInterval = 100;
    const wallet = new Wallet(sender.privateKey, provider);

    t.equal((await provider.getNetwork()).chainId, 8845n);
    const before = await provider.getBalance(receiver);
    const nonce = await wallet.getNonce();
    const sent = await Promise.all(
      [1n, 2n].map((value, index) =>
        wallet.sendTransaction({ to: receiver, value: parseEther(String(value)), nonce: nonce + index }),
      ),
    );
    const receipts = await Promise.all(sent.map((transaction) => transaction.wait()));
    t.same(
      receipts.map((receipt) => receipt?.status),
      [1, 1],
    );
    t.equal(await provider.getBalance(receiver), before + parseEther("3"));
    t.equal(await wallet.getNonce(), nonce + 2);

    const deployed = await new ContractFactory(tallyInterface, tallyBytecode, wallet).deploy(5n);
    await deployed.waitForDeployment();
    const tally = new Contract(await deployed.getAddress(), tallyInterface, wallet);
    t.equal(await tally.getFunction("value")(), 5n);
    t.ok((await tally.getFunction("raise").estimateGas(7n)) > 21_000n);
    const raised = await tally.getFunction("raise")(7n);
    const receipt = await raised.wait();
    const logs = await tally.queryFilter("Raised", receipt.blockNumber, receipt.blockNumber);
    t.same(
      logs.map((log) => ("args" in log ? [...log.args] : [])),
      [[wallet.address, 12n]],
    );
    t.equal(await tally.getFunction("value")(), 12n);

    const tooMuch: unknown = await tally
      .getFunction("raise")
      .staticCall(101n)
      .catch((error) => error);
    t.ok(isError(tooMuch, "CALL_EXCEPTION"));
    t.equal(memberAt(tooMuch, "revert.name"), "TooMuch");
    t.same([...Object(memberAt(tooMuch, "revert.args"))], [101n, 100n]);
    const refused: unknown = await tally
      .getFunction("refuse")
      .estimateGas()
      .catch((error) => error);
    t.ok(isError(refused, "CALL_EXCEPTION"));
    t.equal(memberAt(refused, "reason"), "the tally is closed");

    t.type((await provider.getFeeData()).gasPrice, "bigint");
    t.match(await provider.send("eth_feeHistory", ["0x4", "latest", [50]]), { oldestBlock: /^0x/ });
  });

  await testRefusals(t, rig, ethersClient({ name: "ethers", open: connect }));
  await t.test("without its network it looks for it once a second, until it is destroyed", async (t) => {
    const printed = t.capture(console, "log");
    const open = (connection: Connection) => new JsonRpcProvider(requestTo(connection));
    await testRefusals(t, rig, ethersClient({ name: "ethers, network not given", open }));
    t.match(String(printed()[0]?.args), "failed to detect network and cannot start up; retry in 1s");
  });
  const open = (connection: Connection) => {
    const request = requestTo(connection);
    request.setThrottleParams({ maxAttempts: 1 });
    return new JsonRpcProvider(request, 8845, { staticNetwork: true });
  };
  await testRefusals(t, rig, ethersClient({ name: "ethers, maxAttempts 1", open }));
}

type Connection = { url: string; key: string };

function requestTo({ url, key }: Connection): FetchRequest {
  const request = new FetchRequest(url);
  request.setHeader("X-API-Key", key);
  return request;
}

function ethersClient({
  name,
  open,
}: {
  name: ClientUnderTest["name"];
  open: (connection: Connection) => JsonRpcProvider;
}): ClientUnderTest {
  return {
    name,
    open(connection) {
      const provider = open(connection);
      let reads = 0;
      // Never the same address twice: the provider answers what it was asked just now from memory.
      const read = () => provider.getBalance(`0x${String(++reads).padStart(40, "0")}`);
      return {
        read,
        request: (method) => provider.send(method, []),
        readBatch: (count) => Promise.all(Array.from({ length: count }, read)),
        close: () => provider.destroy(),
      };
    },
    describe: (error) => ({
      error: `${memberAt(error, "name")}, ${memberAt(error, "code")}`,
      says: String(memberAt(error, "shortMessage")),
    }),
  };
}
