import t from "tap";
import { isFromHere } from "../../../lib/http-service/from-here.ts";

t.test("a connection of the same machine, however it is spelled, and no other", async (t) => {
  const cases = [
    ["127.0.0.1", "127.0.0.1", true],
    ["127.9.9.9", "127.0.0.1", true],
    ["::1", "::1", true],
    ["::ffff:127.0.0.1", "::ffff:127.0.0.1", true],
    // The server listens on one address of the machine, and the program asks there.
    ["10.0.0.5", "10.0.0.5", true],
    ["::ffff:10.0.0.5", "10.0.0.5", true],
    ["10.0.0.6", "10.0.0.5", false],
    ["172.18.0.1", "172.18.0.4", false],
    ["2001:db8::1", "2001:db8::2", false],
    // A socket that is gone has no addresses.
    [undefined, undefined, false],
    ["", "", false],
    ["unknown", "unknown", false],
  ] as const;
  for (const [remoteAddress, localAddress, expected] of cases) {
    t.equal(isFromHere({ remoteAddress, localAddress }), expected, `${remoteAddress} at ${localAddress}`);
  }
});
