/** Why the gateway closes a socket: the close code (RFC 6455 section 7.4; 4000 to 4999 are ours) and the reason it gives. */
export const closeCodes = {
  stopping: { code: 1001, reason: "The gateway is stopping: connect again" },
  tooLarge: { code: 1009, reason: "The message is too large: send smaller batches" },
  tooManyFrames: { code: 1008, reason: "Too many frames in a second" },
  tooManyInFlight: { code: 1008, reason: "Too many frames are waiting for their answers" },
  tooSlow: { code: 1013, reason: "Too much is waiting to be read: read faster or ask for less" },
  behind: { code: 1013, reason: "More than 128 blocks behind: connect again and ask for what is missing" },
  keyEnded: { code: 4401, reason: "The API key was revoked or has expired" },
  chainEnded: { code: 4410, reason: "Another chain has begun: nothing known of the old one holds" },
} as const satisfies Record<string, { code: number; reason: string }>;

export type CloseReason = keyof typeof closeCodes;
