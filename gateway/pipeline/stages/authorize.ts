import type { KeyRecord } from "../../../lib/keys/key-record.ts";
import { refusal } from "../../json-rpc/refusal.ts";
import type { ScannedCall } from "../../json-rpc/scan-result.ts";
import type { Call } from "../../methods/call.ts";
import type { MethodTable } from "../../methods/method-table.ts";

/**
 * What may be called: each call against the method table and the key's permissions. A call that may not pass is
 * refused by itself; the others of its batch go on.
 */
export function authorize(
  scanned: ScannedCall,
  { key, methods }: { key: KeyRecord; methods: MethodTable },
): Call {
  if (scanned.kind === "invalid") {
    return { idText: scanned.idText, kind: "refused", refusal: refusal("invalid_request", scanned.message) };
  }
  const { idText, method, paramsText } = scanned;
  const params = paramsText ?? "[]";
  const refused = (...what: Parameters<typeof refusal>): Call => ({
    idText,
    kind: "refused",
    refusal: refusal(...what),
    bytes: params.length,
  });
  const rule = methods.lookup(method);
  if (rule === "unknown")
    return refused("method_not_found", "Method not found: this network does not offer it");
  if (rule === "refused")
    return refused("method_forbidden", "This method is not available through the gateway");
  if (!key.permissions.includes(rule.permission)) {
    return refused(
      "method_not_permitted",
      `This method needs an API key with the permission ${rule.permission}`,
    );
  }
  // The scanner has proved it an array or an object. No method of Ethereum takes parameters by name.
  if (params.startsWith("{")) return refused("invalid_params", "Send params as an array, by position");
  if (params.length > rule.paramsBytesMax) {
    const { paramsBytesMax } = rule;
    return refused("invalid_params", `The parameters of ${rule.name} may take ${paramsBytesMax} bytes`, {
      data: { paramsBytesMax },
    });
  }
  return { idText, kind: "forward", rule, paramsText: params };
}
