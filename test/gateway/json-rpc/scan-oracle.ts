import { topLevelMembersMax } from "../../../gateway/json-rpc/scan-item.ts";
import type { ScanLimits } from "../../../gateway/json-rpc/scan-result.ts";
import { nameBytesMax, numberBytesMax } from "../../../gateway/json-rpc/scan-value.ts";

/** What the scanner has to find in a body, told slowly and another way: by `JSON.parse` and a regular expression. */
export type Expected =
  | { kind: "no JSON" }
  /** JSON that is refused as a whole, for one of these reasons. */
  | { kind: "refused"; reasons: ReadonlySet<"parse" | "request">; idBefore: (offset: number) => string }
  | { kind: "single" | "batch"; calls: ExpectedCall[] };

export type ExpectedCall =
  | { kind: "call"; idText: string | undefined; method: string; paramsText: string | undefined }
  | { kind: "invalid"; idText: string };

type Token = { text: string; start: number; end: number; depth: number; isName: boolean };
type Member = { name: string; text: string; start: number; end: number };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function expectedOf(body: Uint8Array, limits: ScanLimits): Expected {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(body));
  } catch {
    return { kind: "no JSON" };
  }
  const text = Buffer.from(body).toString("latin1");
  const tokens = tokensOf(text);
  const reasons = reasonsToRefuse(value, tokens, limits);
  if (reasons.size > 0) {
    const idBefore = (offset: number) =>
      Array.isArray(value) ? "null" : idOf(membersOf(tokens, text, 1).filter(({ end }) => end <= offset));
    return { kind: "refused", reasons, idBefore };
  }
  if (!Array.isArray(value)) return { kind: "single", calls: [expectedCall(membersOf(tokens, text, 1))] };
  return { kind: "batch", calls: itemsOf(tokens).map((item) => expectedItem(item, text)) };
}

/** Of a text that is known to be JSON. `depth` is of what the token stands in; a bracket stands in its own. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"|[-+.0-9a-zA-Z]+|[[\]{}:,]/gs)) {
    const [token] = match;
    if (token === "{" || token === "[") depth += 1;
    const end = match.index + token.length;
    tokens.push({ text: token, start: match.index, end, depth, isName: false });
    if (token === "}" || token === "]") depth -= 1;
    const previous = tokens.at(-2);
    if (token === ":" && previous !== undefined) previous.isName = true;
  }
  return tokens;
}

function reasonsToRefuse(value: unknown, tokens: Token[], { depthMax, batchItemsMax }: ScanLimits) {
  const reasons = new Set<"parse" | "request">();
  if (typeof value !== "object" || value === null) reasons.add("request");
  if (Array.isArray(value) && (value.length === 0 || value.length > batchItemsMax)) reasons.add("request");
  for (const { text, depth, isName } of tokens) {
    if (depth > depthMax) reasons.add("request");
    if (text.startsWith('"')) {
      if (!decode(text).isWellFormed()) reasons.add("parse");
      if (isName && text.length - 2 > nameBytesMax) reasons.add("request");
    } else if (/^[-0-9]/.test(text)) {
      if (text.length > numberBytesMax || !Number.isFinite(Number(text))) reasons.add("request");
    }
  }
  return reasons;
}

function decode(token: string): string {
  return String(JSON.parse(Buffer.from(token, "latin1").toString("utf8")));
}

/** The members of an object's tokens, which stand at this depth; none where it is no object. */
function membersOf(tokens: Token[], text: string, depth: number): Member[] {
  const members: Member[] = [];
  tokens.forEach((token, index) => {
    if (!token.isName || token.depth !== depth) return;
    const rest = tokens.slice(index + 2);
    const start = rest[0]?.start ?? 0;
    const after = rest.findIndex((one) => one.depth === depth && /^[,}]$/.test(one.text));
    const end = rest[after - 1]?.end ?? 0;
    members.push({ name: decode(token.text), text: text.slice(start, end), start, end });
  });
  return members;
}

/** The tokens of a batch, item by item. */
function itemsOf(tokens: Token[]): Token[][] {
  const items: Token[][] = [[]];
  for (const token of tokens.slice(1, -1)) {
    if (token.depth === 1 && token.text === ",") items.push([]);
    else items.at(-1)?.push(token);
  }
  return items;
}

function expectedItem(item: Token[], text: string): ExpectedCall {
  return item[0]?.text === "{" ? expectedCall(membersOf(item, text, 2)) : { kind: "invalid", idText: "null" };
}

function expectedCall(members: Member[]): ExpectedCall {
  const textOf = (name: string) => members.find((member) => member.name === name)?.text;
  const [id, version, method, params] = ["id", "jsonrpc", "method", "params"].map(textOf);
  const isRequest =
    members.length <= topLevelMembersMax &&
    new Set(members.map(({ name }) => name)).size === members.length &&
    version?.startsWith('"') &&
    decode(version) === "2.0" &&
    (id === undefined || isLegalId(id)) &&
    (params === undefined || /^([[{]|null$)/.test(params));
  if (!isRequest || !method?.startsWith('"')) return { kind: "invalid", idText: idOf(members) };
  return {
    kind: "call",
    idText: id,
    method: decode(method),
    paramsText: params === "null" ? undefined : params,
  };
}

function idOf(members: Member[]): string {
  const ids = members.filter(({ name }) => name === "id").map(({ text }) => text);
  const [id] = ids;
  return id !== undefined && ids.length === 1 && isLegalId(id) ? id : "null";
}

function isLegalId(text: string): boolean {
  return text === "null" || /^["\-0-9]/.test(text);
}
