import type { Test } from "tap";
import { parseAbi } from "viem";
import type { ClientName } from "./behaviours.ts";
import { tallyBytecode, tallyInterface } from "./contract/tally.ts";
import { memberAt } from "./member-at.ts";
import { type ClientUnderTest, testRefusals } from "./refusals.ts";
import type { ClientRig } from "./rig.ts";
import { startWeb3py } from "./web3py-process.ts";

/** As a compiler writes it: viem leaves out what is false, which web3.py wants to be told. */
const abi = parseAbi(tallyInterface).map((member) =>
  member.type === "event"
    ? { ...member, anonymous: false, inputs: member.inputs.map((input) => ({ indexed: false, ...input })) }
    : member,
);

export async function testWeb3py(t: Test, rig: ClientRig, python: string): Promise<void> {
  const { receiver, sender } = rig;
  const runTask = startWeb3py(t, { python });
  const run = (task: object) => runTask({ receiver, ...task });

  await t.test("reads, sends, deploys, calls and decodes", async (t) => {
    const result = await run({
      do: "work",
      url: rig.gateway.url,
      key: rig.key,
      privateKey: sender.privateKey,
      abi,
      bytecode: tallyBytecode,
    });
    t.match(result, {
      chainId: 8845,
      statuses: [1, 1],
      received: 3e18,
      nonces: 4,
      values: [5, 12],
      logs: [{ by: sender.address, value: 12 }],
      fees: Number,
    });
    t.ok(Number(memberAt(result, "gas")) > 21_000);
    t.match(memberAt(result, "tooMuch"), { class: "ContractCustomError", arguments: [101, 100] });
    t.match(memberAt(result, "refused"), { class: "ContractLogicError", text: /the tally is closed/ });
  });

  const client = (name: ClientName, settings: object): ClientUnderTest => ({
    name,
    open: (connection) => ({
      read: () => run({ ...connection, ...settings, do: "read" }),
      readBatch: (count) => run({ ...connection, do: "batch", count }),
      readWithOwnHeaders: () => run({ ...connection, do: "read", withoutContentType: true }),
      request: (method) => run({ ...connection, do: "request", method }),
    }),
    describe: (error) => ({
      error: String(memberAt(error, "class")),
      says: String(memberAt(error, "message")),
    }),
  });
  await testRefusals(t, rig, client("web3.py", {}));
  await testRefusals(t, rig, client("web3.py, no retries", { withoutRetries: true }));
}
