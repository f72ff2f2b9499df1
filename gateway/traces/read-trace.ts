import { Transaction } from "ethers/transaction";
import { decodeRlp } from "ethers/utils";
import type { ByteText } from "../json-rpc/answer.ts";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";
import type { TraceKind } from "../methods/method-table.ts";
import { readTraceCall } from "./read-trace-call.ts";
import { readTracerOptions, readTraceTypes } from "./read-trace-options.ts";
import { tooMuchGas } from "./too-much-gas.ts";
import type { TraceSettings } from "./trace-settings.ts";

type Bounds = Pick<TraceSettings, "gasMax" | "callsMax" | "heavyOptions">;

/** Hex digits of a raw transaction or block in the parameters of a trace. */
const rawDigitsMax = 2 * 128 * 1024;

/**
 * Holds a trace to its bounds: the gas of the calls in its parameters, and options that make a validator hold much. What was
 * checked is what is forwarded: the parameters are written anew from known members, a missing gas as the rest of the bound.
 * The gas of mined transactions and blocks is looked up later (`pipeline/trace-gas.ts`).
 */
export function readTrace({
  kind,
  paramsText,
  bounds,
}: {
  kind: TraceKind;
  paramsText: ByteText;
  bounds: Bounds;
}): { paramsText: ByteText } | Refusal {
  const params: unknown = JSON.parse(Buffer.from(paramsText, "latin1").toString("utf8"));
  if (!Array.isArray(params)) return refusal("invalid_params", "Send params as an array, by position");
  const written = readers[kind](params, bounds);
  return "refused" in written
    ? written
    : { paramsText: Buffer.from(JSON.stringify(written), "utf8").toString("latin1") };
}

type Params = readonly unknown[];

const readers: Record<TraceKind, (params: Params, bounds: Bounds) => unknown[] | Refusal> = {
  call([call, types, ...rest], bounds) {
    const read = readTraceCall(call, { gasMax: bounds.gasMax, gasMissing: bounds.gasMax });
    if ("refused" in read) return read;
    const named = readTraceTypes(types, bounds);
    return "refused" in named ? named : [read.call, named, rest[0] ?? "latest"];
  },

  debugCall([call, block, options], bounds) {
    const read = readTraceCall(call, { gasMax: bounds.gasMax, gasMissing: bounds.gasMax });
    if ("refused" in read) return read;
    const written = readTracerOptions(options, bounds);
    return "refused" in written ? written : [read.call, block ?? "latest", written.options];
  },

  callMany([calls, ...rest], bounds) {
    const { gasMax, callsMax } = bounds;
    if (!Array.isArray(calls))
      return refusal("invalid_params", "The first parameter must be a list of calls");
    if (calls.length > callsMax) {
      return refusal("invalid_params", `At most ${callsMax} calls can be traced at once`, {
        data: { callsMax },
      });
    }
    // Calls without gas share the bound equally. Calls with gas have to fit beside them.
    const gasMissing = Math.floor(gasMax / Math.max(1, calls.length));
    const written: unknown[] = [];
    let gas = 0;
    for (const item of calls) {
      const [call, types]: Params = Array.isArray(item) ? item : [];
      const read = readTraceCall(call, { gasMax, gasMissing });
      if ("refused" in read) return read;
      const named = readTraceTypes(types, bounds);
      if ("refused" in named) return named;
      gas += read.gas;
      written.push([read.call, named]);
    }
    return gas > gasMax ? tooMuchGas(gas, gasMax) : [written, rest[0] ?? "latest"];
  },

  rawTransaction([raw, types], bounds) {
    const gas = gasOfTransaction(raw);
    if (gas === undefined) return notRead("transaction");
    if (gas > bounds.gasMax) return tooMuchGas(gas, bounds.gasMax);
    const named = readTraceTypes(types, bounds);
    return "refused" in named ? named : [raw, named];
  },

  rawBlock([raw, options], bounds) {
    const gas = gasOfBlock(raw);
    if (gas === undefined) return notRead("block");
    if (gas > bounds.gasMax) return tooMuchGas(gas, bounds.gasMax);
    const written = readTracerOptions(options, bounds);
    return "refused" in written ? written : [raw, written.options];
  },

  transaction: (params, bounds) => readMined(params, bounds),
  block: (params, bounds) => readMined(params, bounds),
  range: (params) => [...params],
};

/** A hash or a number, and then tracer options, trace types, or the place of one trace. */
function readMined([what, more, ...rest]: Params, bounds: Bounds): unknown[] | Refusal {
  if (more === undefined) return what === undefined ? [] : [what];
  if (rest.length > 0) return refusal("invalid_params", "The method takes fewer parameters");
  if (Array.isArray(more)) {
    const isPlace = more.every(
      (part) => typeof part === "number" || /^0x[0-9a-fA-F]{1,8}$/.test(String(part)),
    );
    const written = isPlace ? more : readTraceTypes(more, bounds);
    return "refused" in written ? written : [what, written];
  }
  const written = readTracerOptions(more, bounds);
  return "refused" in written ? written : [what, written.options];
}

/** The gas limit of a signed transaction, since its used gas is not known. */
function gasOfTransaction(raw: unknown): number | undefined {
  if (typeof raw !== "string" || raw.length > rawDigitsMax) return undefined;
  try {
    return Number(Transaction.from(raw).gasLimit);
  } catch {
    return undefined;
  }
}

/** The gas limits of all transactions of a block. Its header cannot be trusted. */
function gasOfBlock(raw: unknown): number | undefined {
  if (typeof raw !== "string" || raw.length > rawDigitsMax) return undefined;
  try {
    const [, transactions]: readonly unknown[] = Object.values(decodeRlp(raw));
    if (!Array.isArray(transactions)) return undefined;
    return transactions.reduce((sum: number, item: unknown) => sum + gasOfItem(item), 0);
  } catch {
    return undefined;
  }
}

/** In a block a typed transaction is a string of bytes, a legacy one a list: nonce, price, gas limit. */
function gasOfItem(item: unknown): number {
  if (typeof item === "string") return Number(Transaction.from(item).gasLimit);
  const gas: unknown = Array.isArray(item) ? item[2] : undefined;
  if (typeof gas !== "string") throw new Error("no transaction");
  return gas === "0x" ? 0 : Number(gas);
}

function notRead(what: string): Refusal {
  return refusal(
    "invalid_params",
    `The first parameter must be the raw bytes of a ${what}, as hex, at most 128 KiB`,
  );
}
