import { AbiCoder } from "ethers/abi";
import { id } from "ethers/hash";
import { toBeHex, zeroPadValue } from "ethers/utils";
import { test } from "tap";
import type { ReadBurn } from "../../../api/follower/burns.ts";
import { startOwnFollower } from "../../../scripts/soak/follower-crashes/own-follower.ts";
import { readIndex } from "../../../scripts/soak/follower-crashes/read-index.ts";
import { logInput, tokenCode } from "../../fakes/token/token-code.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { createDatabase } from "../../helpers/postgres.ts";

const coder = AbiCoder.defaultAbiCoder();
const payer = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const collector = `0x${"b0".repeat(20)}`;
const stranger = `0x${"b1".repeat(20)}`;
const topic = id("Burned(bytes32,address,uint256)");

/** A stand-in for the contract that takes the fees: 30 of 100 are burned. */
const readBurn: ReadBurn = ({ topics, data }) => {
  if (topics[0] !== topic) return undefined;
  const amount = BigInt(coder.decode(["uint256"], data)[0]);
  const burned = (amount * 30n) / 100n;
  return {
    source: "payments",
    orderId: topics[1] ?? "",
    payer: `0x${topics[2]?.slice(26)}`,
    ...{ amount, burned, treasury: amount - burned },
  };
};

test("burns stand with sums by day; a log of another contract that looks like one is none", async (t) => {
  const dayStart = 1_900_022_400;
  const [anvil, postgresUrl] = await Promise.all([
    startAnvil(t, { genesisTimestampSeconds: dayStart - 86_400 }),
    createDatabase(t),
  ]);
  for (const address of [collector, stranger]) await anvil.rpc("anvil_setCode", [address, tokenCode({})]);
  await anvil.rpc("evm_setAutomine", [false]);
  const pay = (to: string, order: number, amount: bigint) =>
    anvil.rpc("eth_sendTransaction", [
      {
        ...{ from: payer, to, gas: "0x7a120" },
        data: logInput({
          topics: [topic, zeroPadValue(toBeHex(order), 32), zeroPadValue(payer, 32)],
          data: coder.encode(["uint256"], [amount]),
        }),
      },
    ]);
  const mineAt = (seconds: number) => anvil.rpc("evm_mine", [seconds]);
  await pay(collector, 1, 100n);
  await pay(stranger, 2, 1000n);
  await mineAt(dayStart - 1);
  await pay(collector, 3, 2n ** 200n);
  await mineAt(dayStart);
  await pay(collector, 4, 11n);
  await mineAt(dayStart + 86_399);
  await mineAt(dayStart + 86_400);

  const burnContracts = [{ address: collector.toUpperCase().replace("0X", "0x"), readBurn }];
  const follower = await startOwnFollower(t, {
    url: anvil.url,
    postgresUrl,
    burnContracts,
    arrayBlocksMax: 2,
  });
  await follower.indexed(4);
  const { burn, burn_total } = await readIndex(postgresUrl);
  t.match(burn, [
    { block: 1, log_index: 0, tx_index: 0, source: "payments", amount: 100, burned: 30, treasury: 70 },
    { block: 2, payer: `\\x${payer.slice(2)}` },
    { block: 3, order_id: `\\x${"4".padStart(64, "0")}`, amount: 11, burned: 3, treasury: 8 },
  ]);
  const day = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
  t.match(burn_total, [
    { source: "payments", day: day(dayStart - 1), payments: 1, amount: 100, burned: 30, treasury: 70 },
    { source: "payments", day: day(dayStart), payments: 2, amount: Number(2n ** 200n + 11n) },
  ]);
  t.equal(burn_total.length, 2);
});
