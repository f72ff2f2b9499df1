import t from "tap";
import { parseDuration } from "../../../lib/config/duration.ts";
import { bounded, hostNames, port } from "../../../lib/config/schemas.ts";
import { formatTokens, parseTokens, tokenAmount } from "../../../lib/config/token-amount.ts";
import { redisUrl } from "../../../lib/redis/redis-address.ts";

t.test("a number out of bounds is told which were expected", async (t) => {
  const schema = bounded(10);
  t.equal(schema.parse(10), 10);
  for (const wrong of [0, 11, 1.5, "5"]) {
    t.equal(schema.safeParse(wrong).error?.issues[0]?.message, "a whole number from 1 to 10 was expected");
  }
  t.equal(port.parse(0), 0);
  t.equal(port.safeParse(65_536).error?.issues[0]?.message, "a port, 0 to 65535, was expected");
});

t.test("an address has one of the protocols that are expected", async (t) => {
  t.equal(redisUrl.parse("rediss://a:1"), "rediss://a:1");
  t.match(
    redisUrl.safeParse("http://a").error?.issues[0]?.message,
    /begins with redis:\/\/ or rediss:\/\/ or redis-cluster:/,
  );
});

t.test("hosts are a list, or one text with commas", async (t) => {
  t.same(hostNames.parse("gateway, ops.example,"), ["gateway", "ops.example"]);
  t.same(hostNames.parse(["[::1]"]), ["[::1]"]);
  t.notOk(hostNames.safeParse(["gateway:80"]).success);
});

t.test("an amount of tokens is read into wei and written from it", async (t) => {
  t.equal(parseTokens(0.5), 500_000_000_000_000_000n);
  for (const wrong of ["", "0", "-1", "ten", "0.0000000000000000001"]) t.equal(parseTokens(wrong), undefined);
  t.equal(formatTokens(1_234_500_000_000_000_000_000n), "1,234.5");
  t.match(tokenAmount.safeParse("0").error?.issues[0]?.message, /an amount of tokens above 0/);
});

t.test("a length of time has a unit, one of those that are expected", async (t) => {
  t.equal(parseDuration("1.5s", ["s"]), 1500);
  t.equal(parseDuration("30d", ["h", "d"]), 30 * 86_400_000);
  for (const wrong of ["", "5", "5ms", "s", "-1s", "1e3s", "5 s"])
    t.equal(parseDuration(wrong, ["s"]), undefined);
});
