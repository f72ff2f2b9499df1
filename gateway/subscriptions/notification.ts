/** One notification for any number of subscribers. */
export type Notification = {
  /** The message for one subscription: the same bytes each time, so they must be used before the next call. */
  messageFor(subscriptionId: string): Uint8Array;
};

/** Subscription ids are all of this length, so that one takes another's place. */
export const subscriptionIdChars = 34;

const beforeId = '{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"';

/**
 * Writes a notification once, and for each subscriber only puts its id into those bytes. The sender has to copy them before
 * it returns (uWebSockets.js does).
 */
export function createNotification(resultText: string): Notification {
  const bytes = Buffer.from(`${beforeId}${"0".repeat(subscriptionIdChars)}","result":${resultText}}}`);
  return {
    messageFor(subscriptionId) {
      bytes.write(subscriptionId, beforeId.length, subscriptionIdChars, "latin1");
      return bytes;
    },
  };
}
