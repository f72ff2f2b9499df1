import { AbiCoder } from "ethers/abi";
import { id } from "ethers/hash";
import { toBeHex, zeroPadValue } from "ethers/utils";
import { logInput } from "./token-code.ts";

const coder = AbiCoder.defaultAbiCoder();
const word = (value: string | bigint) => zeroPadValue(typeof value === "bigint" ? toBeHex(value) : value, 32);

/** Inputs with which a token of `tokenCode` writes the logs of the three standards. */
export const tokenLogs = {
  erc20: (from: string, to: string, value: bigint) =>
    logInput({
      topics: [id("Transfer(address,address,uint256)"), word(from), word(to)],
      data: coder.encode(["uint256"], [value]),
    }),
  erc721: (from: string, to: string, tokenId: bigint) =>
    logInput({
      topics: [id("Transfer(address,address,uint256)"), word(from), word(to), word(tokenId)],
      data: "0x",
    }),
  single: (from: string, to: string, tokenId: bigint, value: bigint) =>
    logInput({
      topics: [
        id("TransferSingle(address,address,address,uint256,uint256)"),
        word(from),
        word(from),
        word(to),
      ],
      data: coder.encode(["uint256", "uint256"], [tokenId, value]),
    }),
  batch: (from: string, to: string, items: readonly [tokenId: bigint, value: bigint][]) =>
    logInput({
      topics: [
        id("TransferBatch(address,address,address,uint256[],uint256[])"),
        ...[word(from), word(from), word(to)],
      ],
      data: coder.encode(
        ["uint256[]", "uint256[]"],
        [items.map(([tokenId]) => tokenId), items.map(([, value]) => value)],
      ),
    }),
};

export const abiText = (text: string) => coder.encode(["string"], [text]);
export const abiNumber = (value: bigint) => coder.encode(["uint256"], [value]);
