import type { Test } from "tap";
import {
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  isHex,
  parseAbi,
  toHex,
} from "viem";
import { waitFor } from "../helpers/wait-for.ts";
import { tallyBytecode, tallyInterface } from "./contract/tally.ts";
import { configure } from "./examples/hardhat.ts";
import { findHardhatBinding } from "./hardhat-binding.ts";
import { memberAt } from "./member-at.ts";
import { testRefusals } from "./refusals.ts";
import type { ClientRig } from "./rig.ts";

const abi = parseAbi(tallyInterface);

type CreateEnvironment = typeof import("hardhat/hre").createHardhatRuntimeEnvironment;

/** Hardhat's own part takes long to load, so that is done before anything is timed. */
export async function prepareHardhat(t: Test): Promise<{ test: (t: Test, rig: ClientRig) => Promise<void> }> {
  const binding = await findHardhatBinding(t);
  if (binding !== undefined) process.env["NAPI_RS_NATIVE_LIBRARY_PATH"] = binding;
  const { createHardhatRuntimeEnvironment } = await import("hardhat/hre");
  return { test: (t, rig) => testHardhat(t, rig, createHardhatRuntimeEnvironment) };
}

async function testHardhat(t: Test, rig: ClientRig, create: CreateEnvironment): Promise<void> {
  const { receiver } = rig;
  const { address: sender, privateKey } = rig.sender;
  const connect = (t: Test, connection: { url: string; key: string }) =>
    openConnection(t, { ...connection, privateKey, receiver, create });
  await t.test("reads, sends, deploys, calls and decodes, and signs by itself", async (t) => {
    const { ask, read, receiptOf } = await connect(t, { url: rig.gateway.url, key: rig.key });
    const send = (transaction: object) => ask("eth_sendTransaction", [{ from: sender, ...transaction }]);

    t.equal(await ask("eth_chainId"), "0x228d");
    const before = BigInt(String(await read()));
    const nonce = Number(await ask("eth_getTransactionCount", [sender, "pending"]));
    const sent = [];
    for (const value of [1, 2]) sent.push(await send({ to: receiver, value: toHex(value) }));
    const receipts = await Promise.all(sent.map(receiptOf));
    t.same(
      receipts.map((receipt) => memberAt(receipt, "status")),
      ["0x1", "0x1"],
    );
    t.equal(BigInt(String(await read())), before + 3n);
    t.equal(Number(await ask("eth_getTransactionCount", [sender, "latest"])), nonce + 2);

    const deployment = await receiptOf(
      await send({ data: encodeDeployData({ abi, bytecode: tallyBytecode, args: [5n] }) }),
    );
    const to = memberAt(deployment, "contractAddress");
    const data = encodeFunctionData({ abi, functionName: "value" });
    const value = async () =>
      decodeFunctionResult({
        abi,
        functionName: "value",
        data: hex(await ask("eth_call", [{ to, data }, "latest"])),
      });
    const raise = (by: bigint) => ({
      from: sender,
      to,
      data: encodeFunctionData({ abi, functionName: "raise", args: [by] }),
    });
    t.equal(await value(), 5n);
    t.ok(Number(await ask("eth_estimateGas", [raise(7n)])) > 21_000);
    const raised = await receiptOf(await send(raise(7n)));
    const block = memberAt(raised, "blockNumber");
    const logs = await ask("eth_getLogs", [{ address: to, fromBlock: block, toBlock: block }]);
    const event = decodeEventLog({
      abi,
      topics: [hex(memberAt(logs, "0.topics.0")), hex(memberAt(logs, "0.topics.1"))],
      data: hex(memberAt(logs, "0.data")),
    });
    t.same(event, { eventName: "Raised", args: { by: sender, value: 12n } });
    t.equal(await value(), 12n);

    const tooMuch: unknown = await ask("eth_call", [raise(101n), "latest"]).catch((error) => error);
    t.match(decodeErrorResult({ abi, data: hex(memberAt(tooMuch, "data")) }), {
      errorName: "TooMuch",
      args: [101n, 100n],
    });
    // Before it sends, Hardhat estimates the gas: what would revert is refused without costing anything.
    const refuse = { to, data: encodeFunctionData({ abi, functionName: "refuse" }) };
    await t.rejects(send(refuse), { message: /the tally is closed/ });

    t.match(await ask("eth_feeHistory", ["0x4", "latest", [50]]), { oldestBlock: /^0x/ });
  });

  await testRefusals(t, rig, {
    name: "Hardhat",
    async open(connection) {
      const { ask, read } = await connect(t, connection);
      return { read, request: (method) => ask(method) };
    },
    describe: (error) => ({
      error: `${memberAt(error, "name")}, ${memberAt(error, "code")}`,
      says: String(memberAt(error, "message")),
    }),
  });
}

/** A connection as `network.create()` gives it to a script, with the example as the project's configuration. */
async function openConnection(
  t: Test,
  {
    receiver,
    create,
    ...connection
  }: { url: string; key: string; privateKey: string; receiver: string; create: CreateEnvironment },
) {
  const { network } = await create(configure(connection));
  const { provider, close } = await network.create("tollgate");
  t.teardown(close);
  const ask = (method: string, params: unknown[] = []): Promise<unknown> =>
    provider.request({ method, params });
  return {
    ask,
    read: () => ask("eth_getBalance", [receiver, "latest"]),
    async receiptOf(hash: unknown): Promise<unknown> {
      return waitFor(`${hash} is mined`, () => ask("eth_getTransactionReceipt", [hash]), {
        everyMs: 100,
      });
    },
  };
}

function hex(value: unknown): Hex {
  if (!isHex(value)) throw new Error(`no hexadecimal text: ${value}`);
  return value;
}
