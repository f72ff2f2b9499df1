import { Interface } from "ethers/abi";
import { tokenCode } from "../../../test/fakes/token/token-code.ts";
import { abiNumber, abiText, tokenLogs } from "../../../test/fakes/token/token-logs.ts";
import type { OwnAnvil } from "../../processes/own-anvil.ts";
import { alice, bob, crates, market, others, passes, rupiah } from "./accounts.ts";
import { contractCode, logsArguments, logsTransfer } from "./contract-code.ts";

const erc20 = new Interface(["function transfer(address to, uint256 amount) returns (bool)"]);
export const marketAbi = new Interface([
  "function pay(bytes32 orderId, address merchant, uint256 amount)",
  "function refund(bytes32 orderId)",
  "function close()",
  "function feeBps() view returns (uint256)",
  "function treasury() view returns (address)",
  "function isPaid(bytes32 orderId) view returns (bool)",
  "event Paid(bytes32 orderId, address merchant, uint256 amount)",
  "error NotOpen(uint256 until)",
]);
const ether = 10n ** 18n;
const nobody = `0x${"0".repeat(40)}`;

/** Transactions that pages are shown of, by what they are. */
export type Hashes = Record<
  | "payment"
  | "creation"
  | "tokenTransfer"
  | "passTransfer"
  | "crateTransfers"
  | "call"
  | "revertedWithReason"
  | "revertedWithError"
  | "outOfGas",
  string
>;

/**
 * Writes a chain that looks like one in use: payments, tokens of three standards, a contract that takes payments, and what goes
 * wrong. The same each time. `timestampOf`: of a block, in seconds.
 */
export async function fillChain(
  anvil: OwnAnvil,
  {
    height,
    busy,
    timestampOf,
  }: {
    height: number;
    /** The block that gets the transactions whose hashes are returned. */
    busy: number;
    timestampOf: (number: number) => number;
  },
): Promise<Hashes> {
  await placeContracts(anvil);
  await anvil.rpc("evm_setAutomine", [false]);
  const send = async (fields: object) =>
    String(await anvil.rpc("eth_sendTransaction", [{ from: alice, gas: "0x30d40", ...fields }]));
  const draw = createDraw(8845);
  const people = [alice, bob, ...others];
  const anyone = () => people[draw(people.length)] ?? alice;

  async function ordinary(): Promise<void> {
    const [from, to] = [anyone(), anyone()];
    const kind = draw(10);
    if (kind < 5) await send({ from, to, value: hex((ether * BigInt(1 + draw(9000))) / 100n) });
    else if (kind < 8) {
      const data = erc20.encodeFunctionData("transfer", [to, 2500n * BigInt(1 + draw(4000))]);
      await send({ from, to: rupiah, data });
    } else {
      const data = marketAbi.encodeFunctionData("pay", [
        orderId(draw(100_000)),
        to,
        ether * BigInt(1 + draw(50)),
      ]);
      await send({ from, to: market, data });
    }
  }

  async function special(): Promise<Hashes> {
    const pay = [orderId(4711), bob, 25n * ether];
    return {
      payment: await send({ to: bob, value: hex((3n * ether) / 2n) }),
      creation: await send({ data: "0x600a600c600039600a6000f3602a60005260206000f3" }),
      tokenTransfer: await send({
        to: rupiah,
        data: erc20.encodeFunctionData("transfer", [bob, 150_000_00n]),
      }),
      passTransfer: await send({ to: passes, data: tokenLogs.erc721(nobody, bob, 17n) }),
      crateTransfers: await send({
        to: crates,
        data: tokenLogs.batch(alice, bob, [
          [3n, 40n],
          [9n, 2n],
        ]),
      }),
      call: await send({ to: market, data: marketAbi.encodeFunctionData("pay", pay) }),
      revertedWithReason: await send({
        to: market,
        data: marketAbi.encodeFunctionData("refund", [orderId(4711)]),
      }),
      revertedWithError: await send({ to: market, data: marketAbi.encodeFunctionData("close") }),
      outOfGas: await send({ to: crates, gas: "0x5300", data: tokenLogs.single(alice, bob, 3n, 1n) }),
    };
  }

  let hashes: Hashes | undefined;
  for (let number = 1; number <= height; number += 1) {
    // Quiet blocks, busy ones, and the special one near the end.
    const count = number % 7 === 0 ? 0 : draw(4);
    for (let index = 0; index < count; index += 1) await ordinary();
    if (number === busy) hashes = await special();
    await anvil.rpc("evm_mine", [timestampOf(number)]);
  }
  if (hashes === undefined) throw new Error("the chain is too short");
  return hashes;
}

async function placeContracts(anvil: OwnAnvil): Promise<void> {
  const token = (name: string, symbol: string) =>
    tokenCode({ name: { returns: abiText(name) }, symbol: { returns: abiText(symbol) } });
  const codes: [address: string, code: string][] = [
    [
      rupiah,
      contractCode(
        {
          "name()": { returns: abiText("Test Rupiah") },
          "symbol()": { returns: abiText("tIDR") },
          "decimals()": { returns: abiNumber(2n) },
          "totalSupply()": { returns: abiNumber(10n ** 12n) },
          "balanceOf(address)": { returns: abiNumber(1_250_000_00n) },
        },
        logsTransfer(),
      ),
    ],
    [passes, token("Harbour Passes", "PASS")],
    [crates, token("Crates", "CRATE")],
    [
      market,
      contractCode(
        {
          "refund(bytes32)": { reverts: errorText("Market: order 4711 was refunded before") },
          "close()": { reverts: marketAbi.encodeErrorResult("NotOpen", [1_768_470_000n]) },
          "feeBps()": { returns: abiNumber(30n) },
          "treasury()": { returns: `0x${bob.slice(2).toLowerCase().padStart(64, "0")}` },
          "isPaid(bytes32)": { returns: abiNumber(1n) },
        },
        logsArguments("Paid(bytes32,address,uint256)"),
      ),
    ],
  ];
  for (const [address, code] of codes) await anvil.rpc("anvil_setCode", [address, code]);
}

/** What `revert("…")` returns. */
function errorText(text: string): string {
  return `0x08c379a0${abiText(text).slice(2)}`;
}

const hex = (value: bigint) => `0x${value.toString(16)}`;
const orderId = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;

/** Numbers from 0 to below a bound, the same each time. */
function createDraw(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
