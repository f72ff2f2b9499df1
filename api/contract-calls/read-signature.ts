import { FunctionFragment, type ParamType } from "ethers/abi";

/** More than any function that somebody types; what is read of it takes time by its length. */
export const signatureLengthMax = 300;
const parametersMax = 16;
const nestingMax = 4;
/** Places of arrays of a fixed length: each costs memory before a byte of it has come. */
const fixedPlacesMax = 256;

/**
 * A function as somebody has typed it: `balanceOf(address owner) returns (uint256)`, with or without `function` and
 * `view`. Undefined for what is none, and for one whose types are too large to be asked for.
 */
export function readSignature(text: string): FunctionFragment | undefined {
  const trimmed = text.trim().replace(/;$/, "");
  if (trimmed.length > signatureLengthMax || !trimmed.includes("(")) return undefined;
  try {
    const read = FunctionFragment.from(trimmed.startsWith("function ") ? trimmed : `function ${trimmed}`);
    return [read.inputs, read.outputs].every(isSmall) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isSmall(types: readonly ParamType[]): boolean {
  return types.length <= parametersMax && types.every((type) => placesOf(type, nestingMax) <= fixedPlacesMax);
}

/** How many values of a fixed number a type has; infinite where it has none at all, or nests too deeply. */
function placesOf(type: ParamType, levels: number): number {
  if (levels === 0) return Number.POSITIVE_INFINITY;
  if (type.isArray()) {
    // An empty array is no type (Solidity has none), and repeats for nothing.
    if (type.arrayLength === 0) return Number.POSITIVE_INFINITY;
    return placesOf(type.arrayChildren, levels - 1) * Math.max(1, type.arrayLength);
  }
  if (!type.isTuple()) return 1;
  if (type.components.length === 0) return Number.POSITIVE_INFINITY;
  return type.components.reduce((sum, component) => sum + placesOf(component, levels - 1), 0);
}
