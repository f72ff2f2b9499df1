import type { GatewayUnderTest } from "../helpers/gateway.ts";
import type { Situation } from "./behaviours.ts";
import type { OpenedClient } from "./refusals.ts";
import { type ClientRig, limitedCalls } from "./rig.ts";

/** One way into a situation. */
export type Attempt = {
  gateway: GatewayUnderTest;
  key: string;
  /** What the gateway says. */
  message: string;
  /** The method that is refused, where that is the point. */
  method?: string;
  /** What happens once the client is open, before the call that is refused. */
  before?: (client: OpenedClient) => Promise<unknown>;
  call: (client: OpenedClient) => Promise<unknown>;
};

/** Every way into a situation: the table says the same of all of them. */
export function attemptsAt(situation: Situation, rig: ClientRig): Attempt[] {
  return ways[situation](rig);
}

const ways: Readonly<Record<Situation, (rig: ClientRig) => Attempt[]>> = {
  unauthorized: ({ gateway, key }) =>
    [
      { key: "", message: "Send your API key in the header X-API-Key" },
      { key: mistype(key), message: "The API key is mistyped: its checksum does not match. Copy it again" },
      {
        key: "no-gateway-has-this-key",
        message: "The API key is unknown; check that it is whole, and meant for this network",
      },
    ].map((attempt) => ({ gateway, call: read, ...attempt })),
  limited: (rig) => [limited(rig, {})],
  limitedBriefly: (rig) => [limited(rig, { endsInMs: 4900 })],
  methodRefused: ({ gateway, key }) =>
    [
      { method: "admin_peers", message: "This method is not available through the gateway" },
      { method: "eth_noSuchMethod", message: "Method not found: this network does not offer it" },
    ].map((attempt) => ({
      gateway,
      key,
      call: (client: OpenedClient) => client.request(attempt.method),
      ...attempt,
    })),
  batchLimited: ({ gateway, takeLimitedKey }) => [
    {
      gateway,
      key: takeLimitedKey().value,
      // One too many: a client that tries each of several again would send them in one batch or in more, as its timers fall.
      call: async ({ readBatch }) => known(readBatch)(limitedCalls + 1),
      message: limitMessage,
    },
  ],
  unavailable: ({ cutOff, key }) => [
    { gateway: cutOff, key, call: read, message: "No validator answered in time; try again shortly" },
  ],
  noContentType: ({ gateway, key }) => [
    {
      gateway,
      key,
      call: async ({ readWithOwnHeaders }) => known(readWithOwnHeaders)(),
      message: "Send the body with the header Content-Type: application/json",
    },
  ],
};

const limitMessage = `Limit of ${limitedCalls} calls a minute reached`;

/** A client in the middle of its work: what it asks when it starts has been answered. */
function limited({ gateway, takeLimitedKey, useUp }: ClientRig, window: { endsInMs?: number }): Attempt {
  const key = takeLimitedKey();
  return {
    gateway,
    key: key.value,
    async before(client) {
      await client.read();
      await useUp(key, window);
    },
    call: read,
    message: limitMessage,
  };
}

function read(client: OpenedClient): Promise<unknown> {
  return client.read();
}

/** The table has a row of a client only where the client can do what the row is about. */
function known<Ask>(ask: Ask | undefined): Ask {
  if (ask === undefined) throw new Error("the table has a row for what this client cannot do");
  return ask;
}

/** A key of our form with another last character: its checksum does not match. */
function mistype(key: string): string {
  return key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
}
