import type { KeyRecord } from "../../lib/key-store/key-record.ts";
import { checkBlockRange } from "../block-range.ts";
import type { Call } from "../call.ts";
import type { ScannedCall } from "../json-rpc/scan.ts";
import type { MethodTable } from "../method-table.ts";
import { refusal } from "../refusal.ts";

/**
 * What may be asked: each call against the method table and the key's permissions. A call that may not pass is
 * answered by itself; the others of its batch go on.
 *
 * `headNumber` asks for the number of the latest block, for filters that reach up to it.
 */
export function authorize(
  scanned: ScannedCall,
  {
    key,
    methods,
    headNumber,
  }: { key: KeyRecord; methods: MethodTable; headNumber: () => bigint | undefined },
): Call {
  if (scanned.kind === "invalid") {
    return { idText: scanned.idText, kind: "refused", refusal: refusal("invalid_request", scanned.message) };
  }
  const { idText, method, paramsText } = scanned;
  const refused = (...what: Parameters<typeof refusal>): Call => ({
    idText,
    kind: "refused",
    refusal: refusal(...what),
  });
  const rule = methods.lookup(method);
  if (rule === "unknown")
    return refused("method_not_found", "Method not found: this network does not offer it");
  if (rule === "refused") return refused("method_forbidden", "Method not available through the gateway");
  if (!key.permissions.includes(rule.permission)) {
    return refused("method_not_permitted", `Method needs an API key with the permission ${rule.permission}`);
  }
  const params = paramsText ?? "[]";
  // The scanner has proved it an array or an object. No method of Ethereum takes parameters by name.
  if (params.startsWith("{")) return refused("invalid_params", "Send params as an array, by position");
  if (rule.blocksMax === undefined) return { idText, kind: "forward", rule, paramsText: params };
  const range = checkBlockRange({ rule, paramsText: params, permissions: key.permissions, headNumber });
  if ("refused" in range) return { idText, kind: "refused", refusal: range };
  return { idText, kind: "forward", rule, paramsText: range.paramsText };
}
