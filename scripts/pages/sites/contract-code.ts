import { id } from "ethers/hash";

type Body = { returns: string } | { reverts: string };

const bytesOf = (hex: string) => (hex.length - 2) / 2;
const twoBytes = (value: number) => value.toString(16).padStart(4, "0");
const selectorOf = (signature: string) => id(signature).slice(2, 10);
const entryBytes = 11;
const bodyBytes = 14;

/**
 * Code of a contract that answers these functions, by signature, always alike, and runs `otherwise` for all others. For
 * `anvil_setCode`: there is no compiler here.
 */
export function contractCode(answers: Readonly<Record<string, Body>>, otherwise = "00"): string {
  const entries = Object.entries(answers);
  // PUSH0 CALLDATALOAD PUSH1 224 SHR: the selector.
  const head = "5f3560e01c";
  const bodiesAt = head.length / 2 + entries.length * entryBytes + otherwise.length / 2;
  let dataAt = bodiesAt + entries.length * bodyBytes;
  const parts = entries.map(([signature, body], index) => {
    const data = "returns" in body ? body.returns : body.reverts;
    const length = twoBytes(bytesOf(data));
    // DUP1 PUSH4 selector EQ PUSH2 body JUMPI
    const entry = `8063${selectorOf(signature)}1461${twoBytes(bodiesAt + index * bodyBytes)}57`;
    // JUMPDEST PUSH2 length PUSH2 from PUSH0 CODECOPY PUSH2 length PUSH0 RETURN, or REVERT
    const code = `5b61${length}61${twoBytes(dataAt)}5f3961${length}5f${"returns" in body ? "f3" : "fd"}`;
    dataAt += bytesOf(data);
    return { entry, code, data: data.slice(2) };
  });
  const joined = (key: "entry" | "code" | "data") => parts.map((part) => part[key]).join("");
  return `0x${head}${joined("entry")}${otherwise}${joined("code")}${joined("data")}`;
}

/** Writes an event without indexed arguments, with the arguments of the call as its own. */
export function logsArguments(event: string): string {
  // PUSH32 topic, CALLDATASIZE - 4, CALLDATACOPY of that, LOG1, STOP
  return `7f${id(event).slice(2)}600436038060045f375fa100`;
}

/** Writes ERC-20's event of `transfer(to, amount)`, whatever the balances, and returns true. */
export function logsTransfer(): string {
  const topic = id("Transfer(address,address,uint256)").slice(2);
  // The amount into memory; the recipient, CALLER and the topic for LOG3; then 1 is returned.
  return `6024355f52600435337f${topic}60205fa360015f5260205ff3`;
}
