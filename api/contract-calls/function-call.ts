import type { FunctionFragment } from "ethers/abi";
import { concat } from "ethers/utils";
import { type Arguments, argumentsOf } from "../chain/known-contracts.ts";
import { boundedCoder, decodedBytesMax } from "./bounded-coder.ts";
import { type Expected, readArgument } from "./read-argument.ts";

/** An argument's fault at its index; undefined where there is none. */
export type Faults = readonly (Expected | undefined)[];

/** The input of a call, or what is wrong with its arguments. There is one text for each input. */
export function encodeCall(
  fragment: FunctionFragment,
  texts: readonly string[],
): { data: string } | { faults: Faults } {
  const read = fragment.inputs.map((input, index) => readArgument(input, texts[index] ?? ""));
  const faults = read.map((one) => ("expected" in one ? one : undefined));
  if (faults.some((fault) => fault !== undefined)) return { faults };
  const values = read.map((one) => ("value" in one ? one.value : undefined));
  return { data: concat([fragment.selector, boundedCoder.encode(fragment.inputs, values)]) };
}

/** What a function returned; undefined where the bytes are not of its types, or too many to read. */
export function decodeReturned(fragment: FunctionFragment, returned: string): Arguments | undefined {
  if ((returned.length - 2) / 2 > decodedBytesMax) return undefined;
  try {
    return argumentsOf(fragment.outputs, boundedCoder.decode(fragment.outputs, returned));
  } catch {
    return undefined;
  }
}
