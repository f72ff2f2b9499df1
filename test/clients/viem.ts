import type { Test } from "tap";
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  parseAbi,
  parseEther,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { ClientName } from "./behaviours.ts";
import { tallyBytecode, tallyInterface } from "./contract/tally.ts";
import { connect, tollgate } from "./examples/viem.ts";
import { memberAt } from "./member-at.ts";
import { type ClientUnderTest, testRefusals } from "./refusals.ts";
import type { ClientRig } from "./rig.ts";

const abi = parseAbi(tallyInterface);

export async function testViem(t: Test, rig: ClientRig): Promise<void> {
  const { sender, receiver } = rig;
  await t.test("reads, sends, deploys, calls and decodes", async (t) => {
    const transport = connect({ url: rig.gateway.url, key: rig.key });
    const reader = createPublicClient({ chain: tollgate, transport, pollingInterval: 100 });
    const account = privateKeyToAccount(sender.privateKey);
    const wallet = createWalletClient({ chain: tollgate, transport, account });

    t.equal(await reader.getChainId(), 8845);
    const before = await reader.getBalance({ address: receiver });
    const nonce = await reader.getTransactionCount({ address: account.address });
    const hashes = await Promise.all(
      ["1", "2"].map((value, index) =>
        wallet.sendTransaction({ to: receiver, value: parseEther(value), nonce: nonce + index }),
      ),
    );
    const receipts = await Promise.all(hashes.map((hash) => reader.waitForTransactionReceipt({ hash })));
    t.same(
      receipts.map(({ status }) => status),
      ["success", "success"],
    );
    t.equal(await reader.getBalance({ address: receiver }), before + parseEther("3"));
    t.equal(await reader.getTransactionCount({ address: account.address }), nonce + 2);

    const deployment = await wallet.deployContract({ abi, bytecode: tallyBytecode, args: [5n] });
    const { contractAddress } = await reader.waitForTransactionReceipt({ hash: deployment });
    if (contractAddress === undefined || contractAddress === null) throw new Error("nothing was deployed");
    const tally = { address: contractAddress, abi };
    t.equal(await reader.readContract({ ...tally, functionName: "value" }), 5n);
    const raise = { ...tally, functionName: "raise", account } as const;
    t.ok((await reader.estimateContractGas({ ...raise, args: [7n] })) > 21_000n);
    const hash = await wallet.writeContract({ ...raise, args: [7n] });
    const { blockNumber } = await reader.waitForTransactionReceipt({ hash });
    const logs = await reader.getContractEvents({
      ...tally,
      eventName: "Raised",
      fromBlock: blockNumber,
      toBlock: blockNumber,
    });
    t.same(
      logs.map(({ args }) => args),
      [{ by: account.address, value: 12n }],
    );
    t.equal(await reader.readContract({ ...tally, functionName: "value" }), 12n);

    const tooMuch = revertOf(
      await reader.simulateContract({ ...raise, args: [101n] }).catch((error) => error),
    );
    t.same(tooMuch?.data?.errorName, "TooMuch");
    t.same(tooMuch?.data?.args, [101n, 100n]);
    const refused = await reader
      .estimateContractGas({ ...tally, functionName: "refuse" })
      .catch((error) => error);
    t.equal(revertOf(refused)?.reason, "the tally is closed");

    t.type((await reader.estimateFeesPerGas()).maxFeePerGas, "bigint");
    t.type((await reader.getFeeHistory({ blockCount: 4, rewardPercentiles: [50] })).oldestBlock, "bigint");
  });

  await testRefusals(t, rig, viemClient({ name: "viem", receiver }));
  await testRefusals(t, rig, viemClient({ name: "viem, retryCount 0", receiver, retryCount: 0 }));
}

function viemClient({
  name,
  receiver,
  ...options
}: {
  name: ClientName;
  receiver: Address;
  retryCount?: number;
}): ClientUnderTest {
  return {
    name,
    open({ url, key }) {
      const client = createPublicClient({ transport: connect({ url, key, ...options }) });
      const batching = createPublicClient({ transport: connect({ url, key, batch: { batchSize: 100 } }) });
      return {
        read: () => client.getBalance({ address: receiver }),
        request: (method) =>
          client.request<{ Method: string; Parameters: []; ReturnType: unknown }>({ method, params: [] }),
        readBatch: (count) =>
          Promise.all(
            Array.from({ length: count }, (_, index) =>
              batching.getBalance({ address: `0x${String(index + 1).padStart(40, "0")}` }),
            ),
          ),
      };
    },
    describe: (error) => ({
      error: `${memberAt(error, "name")}, ${memberAt(error, "code")}`,
      says: String(memberAt(error, "shortMessage")),
    }),
  };
}

function revertOf(error: unknown): ContractFunctionRevertedError | undefined {
  const found =
    error instanceof BaseError
      ? error.walk((inner) => inner instanceof ContractFunctionRevertedError)
      : undefined;
  return found instanceof ContractFunctionRevertedError ? found : undefined;
}
