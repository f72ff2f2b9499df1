import { Interface, type JsonFragment, type ParamType, type Result } from "ethers/abi";
import type { LogRecord, TransactionRecord } from "../records/transaction.ts";

/** A contract whose ABI is known, at one address. */
export type KnownContract = {
  name: string;
  address: string;
  abi: readonly JsonFragment[];
  deployedAtBlock: number | null;
};

type Method = NonNullable<TransactionRecord["method"]>;
type Event = NonNullable<LogRecord["event"]>;
/** Decoded values with their names and types: numbers as decimal texts. */
export type Arguments = NonNullable<Method["arguments"]>;
type RevertError = { name: string; arguments: Arguments };

/** What every token does, by its standard. */
const tokenStandards = [
  // ERC-20
  "function transfer(address to, uint256 value) returns (bool)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function transferFrom(address from, address to, uint256 value) returns (bool)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
  // ERC-721 and ERC-1155
  "function safeTransferFrom(address from, address to, uint256 tokenId)",
  "function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)",
  "function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)",
  "function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)",
  "function setApprovalForAll(address operator, bool approved)",
  "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
  "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
  "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
];
/** ERC-721's events have ERC-20's signatures, with one more indexed argument. */
const itemStandards = [
  "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
  "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)",
];

export type KnownContracts = ReturnType<typeof createKnownContracts>;

/** Decodes calls, events and errors: of known contracts by their own ABI, of all others by the token standards. */
export function createKnownContracts(given: readonly KnownContract[]) {
  let { contracts, byAddress, errors } = indexOf(given);
  const tokens = new Interface(tokenStandards);
  const items = new Interface(itemStandards);

  return {
    get all() {
      return contracts;
    },
    /** These take the place of those that were known. */
    use(next: readonly KnownContract[]): void {
      ({ contracts, byAddress, errors } = indexOf(next));
    },
    nameOf: (address: string): string | null => byAddress.get(address.toLowerCase())?.name ?? null,
    /** A known contract's own ABI. */
    abiOf: (address: string): Interface | undefined => byAddress.get(address.toLowerCase())?.interface,

    /** What a transaction's input calls. An empty input, or one too short for a selector, calls nothing. */
    method({ to, input }: { to: string | null; input: string }): Method | null {
      if (to === null || input.length < 10) return null;
      const known = byAddress.get(to.toLowerCase())?.interface;
      const unknown: Method = { selector: input.slice(0, 10), name: null, signature: null, arguments: null };
      const found = attempt(() => (known ?? tokens).parseTransaction({ data: input }));
      if (!found) return unknown;
      return {
        selector: found.selector,
        name: found.name,
        signature: found.signature,
        arguments: argumentsOf(found.fragment.inputs, found.args),
      };
    },

    /** What a log says. */
    event({
      address,
      topics,
      data,
    }: {
      address: string;
      topics: readonly string[];
      data: string;
    }): Event | null {
      const own = byAddress.get(address.toLowerCase())?.interface;
      const candidates = own === undefined ? [topics.length === 4 ? items : tokens, tokens] : [own];
      for (const candidate of candidates) {
        const found = attempt(() => candidate.parseLog({ topics, data }));
        if (found) {
          return {
            name: found.name,
            signature: found.signature,
            arguments: argumentsOf(found.fragment.inputs, found.args),
          };
        }
      }
      return null;
    },

    /** What revert data says: `Error(string)`, `Panic(uint256)`, or a custom error of a known ABI, the contract's own first. */
    revert({ to, data }: { to: string | null; data: string }): {
      reason: string | null;
      error: RevertError | null;
    } {
      const known = to === null ? undefined : byAddress.get(to.toLowerCase())?.interface;
      const found =
        attempt(() => (known ?? tokens).parseError(data)) ??
        attempt(() => errors.get(data.slice(0, 10))?.parseError(data));
      if (!found) return { reason: null, error: null };
      const decoded = { name: found.name, arguments: argumentsOf(found.fragment.inputs, found.args) };
      const [first] = decoded.arguments;
      return {
        reason: found.name === "Error" && typeof first?.value === "string" ? first.value : null,
        error: decoded,
      };
    },
  };
}

function indexOf(contracts: readonly KnownContract[]) {
  const byAddress = new Map(
    contracts.map((contract) => [
      contract.address.toLowerCase(),
      { ...contract, interface: new Interface(contract.abi) },
    ]),
  );
  /** A contract may hand on what another one said that it had called. */
  const errors = new Map(
    [...byAddress.values()].flatMap(({ interface: abi }) => {
      const own: [string, Interface][] = [];
      abi.forEachError(({ selector }) => own.push([selector, abi]));
      return own;
    }),
  );
  return { contracts, byAddress, errors };
}

/** Whoever writes a contract chooses what bytes claim to be its call: ethers throws on some of them. */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Decoded values as they are published. */
export function argumentsOf(inputs: readonly ParamType[], values: Result): Arguments {
  return inputs.map((input, index) => ({
    name: input.name,
    type: input.format("sighash"),
    value: attempt(() => jsonOf(values[index])) ?? null,
  }));
}

type Json = Arguments[number]["value"];

function jsonOf(value: unknown): Json {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(jsonOf);
  return typeof value === "string" || typeof value === "boolean" ? value : String(value);
}
