import { z } from "zod";
import { bounded } from "../../../lib/config/schemas.ts";

/** Limits of WebSockets, each explained in `config/gateway.yaml`. */
export const webSocketSettingsSchema = z.strictObject({
  connectionsPerKeyMax: bounded(1_000_000).default(100),
  subscriptionsPerConnectionMax: bounded(100_000).default(100),
  logSubscriptionsPerKeyMax: bounded(1_000_000).default(1000),
  logValuesPerKeyMax: bounded(10_000_000).default(20_000),
  logValuesMax: bounded(10_000_000).default(200_000),
  framesPerSecondMax: bounded(1_000_000).default(2000),
  framesInFlightMax: bounded(1_000_000).default(2000),
  messageBytesMax: bounded(64 * 1024 * 1024).default(1024 * 1024),
  waitingBytesMax: bounded(1024 * 1024 * 1024).default(4 * 1024 * 1024),
  // The library counts in steps of four seconds, and takes no less than eight and no more than 960.
  idleTimeoutSeconds: bounded(960, 8).default(120),
});

export type WebSocketSettings = z.output<typeof webSocketSettingsSchema>;
