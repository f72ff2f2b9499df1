import { isIP, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector } from "undici";
import type { LookUpName } from "./look-up-name.ts";
import type { AddressRule } from "./public-address.ts";

/** A place that no webhook is sent to. */
export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";

  constructor() {
    super("the address is not one that everybody reaches");
  }
}

const connectTimeoutMaxMs = 5000;
const headerBytesMax = 16_384;

/**
 * Connects to addresses that `isAllowed` takes, and to no other: whatever a URL looks like, it is the address of the socket that
 * is judged. A name is looked up once for a connection, and every address that it has must be allowed, so that an answer
 * that changes, or that has one bad address among good ones, leads nowhere. Each request has a connection of its own.
 */
export function createGuardedAgent({
  lookUpName,
  isAllowed,
  timeoutMs,
}: {
  lookUpName: LookUpName;
  isAllowed: AddressRule;
  timeoutMs: number;
}): Agent {
  const lookup: LookupFunction = (host, { all }, done) => {
    lookUpName(host).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isAllowed(address))) {
          done(new AddressRefusedError(), []);
        } else if (all === true) done(null, addresses);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, []),
    );
  };
  const connector = buildConnector({
    timeout: Math.min(connectTimeoutMaxMs, timeoutMs),
    allowH2: false,
    autoSelectFamily: true,
    lookup,
  });

  return new Agent({
    connect(options, done) {
      const host = options.hostname.replace(/^\[(.*)\]$/, "$1");
      // An address in the URL is never looked up.
      if (isIP(host) !== 0 && !isAllowed(host)) {
        done(new AddressRefusedError(), null);
        return;
      }
      connector(options, (...[error, socket]) => {
        if (error !== null) done(error, null);
        else if (isAllowed(addressOf(socket))) done(null, socket);
        else {
          socket.destroy();
          done(new AddressRefusedError(), null);
        }
      });
    },
    maxHeaderSize: headerBytesMax,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // No connection is used twice: the next request's address is judged anew.
    pipelining: 0,
  });
}

/** Whom a socket is connected to; IPv4 in its own form. */
function addressOf({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/, "");
}
