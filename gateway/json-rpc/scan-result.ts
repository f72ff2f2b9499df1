export type ScanLimits = {
  /** Arrays and objects inside each other; the request's object and the batch's array count. */
  depthMax: number;
  batchItemsMax: number;
};

/**
 * One item of a request. `idText` and `paramsText` are the bytes as they came, one character each (latin1): written as
 * latin1 they are the same bytes again. Like `method` they are cut from the text of the whole body and keep it in
 * memory: who keeps one for long copies it.
 */
export type ScannedCall =
  | {
      kind: "call";
      /** Undefined: a notification. */
      idText: string | undefined;
      /** Decoded: `eth_chain\u0049d` is eth_chainId. */
      method: string;
      /** An array or an object. Undefined where it is missing or `null`. */
      paramsText: string | undefined;
    }
  | {
      kind: "invalid";
      /** `null` for a missing id, an invalid one, or two. */
      idText: string;
      /** What to do, in our words only: never the client's text. */
      message: string;
    };

export type ScanResult =
  | { kind: "single"; call: ScannedCall }
  | { kind: "batch"; calls: ScannedCall[] }
  | {
      kind: "refused";
      /** `parse`: not JSON (-32700). `request`: not a request, or JSON that a validator's parser refuses (-32600). */
      reason: "parse" | "request";
      /** What to do, in our words only: never the client's text. Bytes are counted from 0. */
      message: string;
      /** A single request's id where it stood before what is refused, else `null`. */
      idText: string;
      offset?: number;
    };
