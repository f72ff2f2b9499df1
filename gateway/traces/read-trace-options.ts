import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** Tracers of Besu that hold little. A tracer in JavaScript would be a program of the caller. */
const tracers: ReadonlySet<string> = new Set(["callTracer", "flatCallTracer", "4byteTracer"]);

/** Options of other nodes' clients. They have no effect here. */
const ignored: ReadonlySet<string> = new Set(["timeout", "reexec", "limit", "enableReturnData"]);

/** The trace types of `trace_*`: `trace` alone unless more is allowed. */
export function readTraceTypes(
  value: unknown,
  { heavyOptions }: { heavyOptions: boolean },
): string[] | Refusal {
  const allowed = heavyOptions ? ["trace", "vmTrace", "stateDiff"] : ["trace"];
  const names: readonly unknown[] = Array.isArray(value) ? value : [undefined];
  const known = names.filter((name): name is string => typeof name === "string" && allowed.includes(name));
  return known.length === names.length
    ? [...new Set(known)]
    : refusal("invalid_params", `What is traced must be a list of: ${allowed.join(", ")}`);
}

/**
 * The options of `debug_trace*`, written anew. Storage and memory are off unless they are allowed, the stack is as the client
 * asks, and the only tracers are those of Besu.
 */
export function readTracerOptions(
  value: unknown,
  { heavyOptions }: { heavyOptions: boolean },
): { options: Record<string, unknown> } | Refusal {
  if (value !== undefined && value !== null && (typeof value !== "object" || Array.isArray(value))) {
    return refusal("invalid_params", "Tracer options must be an object");
  }
  const written: Record<string, unknown> = { disableStorage: true, disableMemory: true };
  for (const [name, option] of Object.entries(value ?? {})) {
    const read = ignored.has(name) ? {} : readOption(name, option, heavyOptions);
    if (isRefused(read)) return read;
    Object.assign(written, read);
  }
  return { options: written };
}

function readOption(name: string, value: unknown, heavyOptions: boolean): Record<string, unknown> | Refusal {
  switch (name) {
    case "disableStack":
      return typeof value === "boolean" ? { disableStack: value } : notBoolean(name);
    case "disableStorage":
    case "disableMemory":
      if (typeof value !== "boolean") return notBoolean(name);
      return value || heavyOptions ? { [name]: value } : tooHeavy;
    case "enableMemory":
      if (typeof value !== "boolean") return notBoolean(name);
      return !value || heavyOptions ? { disableMemory: !value } : tooHeavy;
    case "tracer":
      return typeof value === "string" && tracers.has(value) ? { tracer: value } : unknownTracer;
    case "tracerConfig":
      return readTracerConfig(value);
    default:
      return unknownOption;
  }
}

function readTracerConfig(value: unknown): Record<string, unknown> | Refusal {
  const config: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(typeof value === "object" && value !== null ? value : {})) {
    if (!["onlyTopCall", "withLog"].includes(name)) return unknownOption;
    if (typeof option !== "boolean") return notBoolean(name);
    config[name] = option;
  }
  return { tracerConfig: config };
}

function isRefused(value: Record<string, unknown> | Refusal): value is Refusal {
  return "refused" in value;
}

/** `name` is one of the options above, never a client's own text. */
function notBoolean(name: string): Refusal {
  return refusal("invalid_params", `${name} must be true or false`);
}

const tooHeavy = refusal(
  "invalid_params",
  "Storage and memory are not traced here: leave disableStorage and disableMemory out, or set them to true",
);
const unknownTracer = refusal("invalid_params", `A tracer must be one of: ${[...tracers].join(", ")}`);
const unknownOption = refusal(
  "invalid_params",
  "Tracer options can be disableStack, disableStorage, disableMemory, tracer, tracerConfig (onlyTopCall, withLog), and no others",
);
