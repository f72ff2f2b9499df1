import { runDigits, uniqueMark, type Workload } from "./workloads.ts";

/**
 * The Lua program with which wrk sends a workload's requests, byte for byte as they were checked, and reports in JSON.
 *
 * With `thinkMs` every connection pauses between an answer and its next request. The pauses have that mean and the
 * distribution of a Poisson process: many connections together then send at a fixed rate, whatever the server does.
 */
export function wrkScript({
  work,
  keys,
  run,
  thinkMs,
}: {
  work: Workload;
  /** The keys' values. */
  keys: readonly string[];
  /** Makes the unique digits of this run differ from any other's. */
  run: number;
  thinkMs: number | undefined;
}): string {
  const requests = work.requests.map(({ keyIndex, body }) =>
    toPieces(requestText(keys[keyIndex] ?? "", body)),
  );
  return [
    `local requests = {\n${requests.map((pieces) => `{${pieces.map(luaString).join(",")}}`).join(",\n")}\n}`,
    `local run = ${luaString(runDigits(run))}`,
    sendInTurn,
    thinkMs === undefined ? "" : `math.randomseed(${run})\nlocal thinkMs = ${thinkMs}\n${think}`,
    report,
  ].join("\n");
}

function requestText(key: string, body: string): string {
  const length = body.replaceAll(uniqueMark, "0".repeat(12)).length;
  const head = [
    "POST / HTTP/1.1",
    "Host: 127.0.0.1",
    `X-API-Key: ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${length}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** The pieces around the unique digits. */
function toPieces(text: string): string[] {
  return text.split(uniqueMark);
}

/** The escapes that JSON writes for ASCII are Lua's too. */
function luaString(text: string): string {
  return JSON.stringify(text);
}

// One and two pieces are special cases: most requests have them, and a table costs more than the rest.
const sendInTurn = `
local at, count = 0, 0
local function unique()
  count = count + 1
  return run .. string.format("%08x", count)
end
function request()
  at = at % #requests + 1
  local pieces = requests[at]
  if #pieces == 1 then return pieces[1] end
  if #pieces == 2 then return pieces[1] .. unique() .. pieces[2] end
  local parts = { pieces[1] }
  for index = 2, #pieces do
    parts[#parts + 1] = unique()
    parts[#parts + 1] = pieces[index]
  end
  return table.concat(parts)
end
`;

const think = `
function delay()
  return math.floor(-thinkMs * math.log(1 - math.random()) + 0.5)
end
`;

const report = `
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\\n{"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
`;
