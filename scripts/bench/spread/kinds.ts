/** Ways to give the connections of one port to several processes. */
export const spreadKinds = ["own listeners", "one listener", "handed over"] as const;
export type SpreadKind = (typeof spreadKinds)[number];

export const kindTexts: Readonly<Record<SpreadKind, string>> = {
  "own listeners": "each worker listens itself with SO_REUSEPORT, over uWebSockets.js, as the gateway's do",
  "one listener":
    "all wait at one listening socket, and who is first accepts (Node's servers, as uWebSockets.js takes no socket that is there already)",
  "handed over": "the primary accepts and passes each connection on, in turn (Node's servers, likewise)",
};

export function isSpreadKind(text: string | undefined): text is SpreadKind {
  return spreadKinds.some((kind) => kind === text);
}
