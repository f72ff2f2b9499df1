import { type Refusal, refusal } from "../../json-rpc/refusal.ts";
import type { RequestHead } from "../exchange.ts";

/** What the head of an upgrade has besides the fields of every request's head. */
export type UpgradeHead = RequestHead & {
  /** `Sec-WebSocket-Version` and `Sec-WebSocket-Protocol` as they came; several fields joined with commas. */
  webSocketVersion: string;
  webSocketProtocols: string;
};

/** The one subprotocol that is ever selected; empty if the client offers none. */
export type Subprotocol = "tollgate.v1" | "";

const subprotocol = "tollgate.v1";
const keyPrefix = "api-key.";

/**
 * What an upgrade offers: the subprotocol to select, and the head with the API key of `api-key.<key>`. A browser sends it
 * this way because it cannot set a header. It is never selected, because the answer would repeat the key.
 */
export function readOffer(head: UpgradeHead): { head: RequestHead; selected: Subprotocol } | Refusal {
  // RFC 6455 section 4.4.
  if (head.webSocketVersion !== "13") {
    return refusal("invalid_request", "Only Sec-WebSocket-Version 13 is accepted", {
      headers: { "Sec-WebSocket-Version": "13" },
    });
  }
  const offered = head.webSocketProtocols
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== "");
  const keys = offered.filter((protocol) => protocol.startsWith(keyPrefix));
  const isOurs = offered.includes(subprotocol);
  if (keys.length > 0 && !isOurs) {
    return refusal(
      "invalid_request",
      `Offer ${subprotocol} before ${keyPrefix}<key>: the key is not repeated`,
    );
  }
  const [key] = keys;
  return {
    head: {
      ...head,
      apiKey: key === undefined ? head.apiKey : key.slice(keyPrefix.length),
      apiKeyCount: head.apiKeyCount + keys.length,
    },
    selected: isOurs ? subprotocol : "",
  };
}
