import { setTimeout as sleep } from "node:timers/promises";
import { tokenCode } from "../../../test/fakes/token/token-code.ts";
import { abiNumber, abiText, tokenLogs } from "../../../test/fakes/token/token-logs.ts";
import { type OwnAnvil, startOwnAnvil } from "../../processes/own-anvil.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { seededRandom } from "../seeded-random.ts";

export type CrashChain = Awaited<ReturnType<typeof startCrashChain>>;

const sender = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const oldBlocks = 200;
const blockEveryMs = 100;
const transactionsMax = 3;
const addressOf = (index: number) => `0x${index.toString(16).padStart(40, "0")}`;
const tokens = Array.from({ length: 4 }, (_, index) => addressOf(0x7000 + index));

/** A dev chain with old blocks. `keepMining` adds others with payments and token transfers. */
export async function startCrashChain(t: Teardown) {
  const anvil = await startOwnAnvil(t);
  await anvil.rpc("evm_setAutomine", [false]);
  for (const [index, token] of tokens.entries()) {
    const name = { returns: abiText(`Token ${index}`) };
    await anvil.rpc("anvil_setCode", [token, tokenCode({ name, decimals: { returns: abiNumber(18n) } })]);
  }
  const random = seededRandom(1);
  for (let count = 0; count < oldBlocks; count += 1) await mineOne(anvil, random);
  let snapshot = await anvil.rpc("evm_snapshot");

  /** Back to the old blocks. A snapshot serves once. */
  async function takeBack(): Promise<void> {
    await anvil.rpc("evm_revert", [snapshot]);
    snapshot = await anvil.rpc("evm_snapshot");
    await anvil.rpc("evm_setAutomine", [false]);
  }

  return {
    url: anvil.url,
    port: anvil.port,
    height: async () => Number(await anvil.rpc("eth_blockNumber")),
    rpc: anvil.rpc,

    /** Mines on the old blocks until it is stopped. `takeBack` returns to the old blocks and mines different ones. */
    async keepMining(seed: number) {
      const random = seededRandom(seed);
      await takeBack();
      let isOver = false;
      let turn: Promise<void> = Promise.resolve();
      const inTurn = (work: () => Promise<void>) => {
        turn = turn.then(work);
        return turn;
      };
      async function mine(): Promise<void> {
        while (!isOver) {
          await inTurn(() => mineOne(anvil, random));
          await sleep(blockEveryMs);
        }
      }
      const mining = mine();
      return {
        takeBack: () =>
          inTurn(async () => {
            await takeBack();
            for (let count = 0; count < 3; count += 1) await mineOne(anvil, random);
          }),
        async stop(): Promise<void> {
          isOver = true;
          await mining;
          await turn;
        },
      };
    },
  };
}

async function mineOne(anvil: OwnAnvil, random: () => number): Promise<void> {
  const draw = (count: number) => Math.floor(random() * count);
  for (let count = draw(transactionsMax + 1); count > 0; count -= 1) {
    const to = addressOf(0x9000 + draw(50));
    const token = tokens[draw(tokens.length)] ?? "";
    const value = BigInt(1 + draw(1_000_000));
    const inputs = [
      tokenLogs.erc20(sender, to, value),
      tokenLogs.erc721(sender, to, value),
      tokenLogs.batch(sender, to, [
        [1n, value],
        [2n, value],
      ]),
    ];
    const transaction =
      draw(2) === 0
        ? { to, value: `0x${value.toString(16)}` }
        : { to: token, data: inputs[draw(inputs.length)] };
    await anvil.rpc("eth_sendTransaction", [{ from: sender, gas: "0x7a120", ...transaction }]);
  }
  await anvil.rpc("evm_mine");
}
