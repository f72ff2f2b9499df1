export type RpcError = { code: number; message: string; data?: string };

/** An answer before it has an id: the result as JSON text, or an error object. */
export type Answer = { result: string } | { error: RpcError };

/**
 * Besu's words. Recorded from five Besu 26.8.0 validators, except `blockNotFound` and `invalidBlockHash`, which no
 * recorded question asked for.
 */
export const besuErrors = {
  parse: { code: -32700, message: "Parse error" },
  invalidRequest: { code: -32600, message: "Invalid Request" },
  methodNotFound: { code: -32601, message: "Method not found" },
  methodNotEnabled: { code: -32604, message: "Method not enabled" },
  sendTransactionNotSupported: {
    code: -32604,
    message:
      "The method eth_sendTransaction is not supported. Use eth_sendRawTransaction to send a signed transaction to Besu.",
  },
  internal: { code: -32603, message: "Internal error" },
  arrayTooLong: { code: -32005, message: "Number of requests exceeds max batch size" },
  invalidParams: { code: -32602, message: "Invalid params" },
  paramsCount: { code: -32602, message: "Invalid number of params" },
  invalidAddress: { code: -32602, message: "Invalid address params" },
  invalidBlockNumber: { code: -32602, message: "Invalid block number params" },
  invalidBlockHash: { code: -32602, message: "Invalid block hash params" },
  blockParamNotFound: { code: -32602, message: "Invalid block param (block not found)" },
  blockNotFound: { code: -32000, message: "Block not found" },
  unknownBlock: { code: -39001, message: "Unknown block" },
  transactionNotFound: { code: -32000, message: "Transaction not found" },
  filterNotFound: { code: -32000, message: "Filter not found" },
  subscriptionNotFound: { code: -32000, message: "Subscription not found" },
  knownTransaction: { code: -32000, message: "Known transaction" },
  nonceTooLow: { code: -32001, message: "Nonce too low" },
  nonceTooDistant: { code: -32000, message: "Transaction nonce is too distant from current sender nonce" },
  underpriced: { code: -32000, message: "Replacement transaction underpriced" },
  wrongChainId: { code: -32000, message: "Wrong chainId" },
  intrinsicGas: { code: -32003, message: "Intrinsic gas exceeds gas limit" },
  gasOverBlockLimit: { code: -32005, message: "Transaction gas limit exceeds block gas limit" },
} as const satisfies Record<string, RpcError>;

export function refused(error: RpcError): Answer {
  return { error };
}

export function answered(value: unknown): Answer {
  return { result: JSON.stringify(value) };
}

/** The answer's JSON text, members in Besu's order. */
export function answerText(idText: string, answer: Answer): string {
  return "result" in answer
    ? `{"jsonrpc":"2.0","id":${idText},"result":${answer.result}}`
    : `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(answer.error)}}`;
}
