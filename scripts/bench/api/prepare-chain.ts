import type { OwnAnvil } from "../../processes/own-anvil.ts";

const transactions = 1300;
const transactionsPerBlock = 20;
const emptyBlocks = 500;
const sender = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

/** A chain of full blocks and empty ones. @returns the number of a block with transactions. */
export async function makeChain(anvil: OwnAnvil): Promise<number> {
  await anvil.rpc("evm_setAutomine", [false]);
  let fullBlock = 0;
  for (let sent = 0; sent < transactions; sent += 1) {
    // One after the other: anvil gives those that come at once the same nonce.
    const to = `0x${(1 + (sent % 997)).toString(16).padStart(40, "0")}`;
    await anvil.rpc("eth_sendTransaction", [{ from: sender, to, value: "0x1" }]);
    if ((sent + 1) % transactionsPerBlock === 0) fullBlock = await mineOne(anvil);
  }
  await anvil.rpc("anvil_mine", [`0x${emptyBlocks.toString(16)}`]);
  return fullBlock;
}

export async function mineOne(anvil: OwnAnvil): Promise<number> {
  await anvil.rpc("evm_mine");
  return Number(await anvil.rpc("eth_blockNumber"));
}
