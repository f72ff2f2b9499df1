/**
 * Text whose characters are the bytes of a body, one each (latin1). So ids, parameters and results stay exactly the
 * bytes that came, whatever they encode, and writing them as latin1 gives those bytes back.
 */
export type ByteText = string;

/**
 * A validator's answer to one call: the bytes of its response object around the id. Joined with the client's id in
 * between they are the response object, otherwise byte for byte as the validator wrote it.
 */
export type Answer = {
  beforeId: ByteText;
  afterId: ByteText;
  /** Known to have no byte above 0x7f. */
  isAscii: boolean;
};

/** An answer of our own; `resultText` is JSON in ASCII. */
export function ownAnswer(resultText: string): Answer {
  return { beforeId: '{"jsonrpc":"2.0","id":', afterId: `,"result":${resultText}}`, isAscii: true };
}
