import t from "tap";
import * as read from "../../../lib/postgres/row.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { createPool } from "./support/pool.ts";

const uint256Max = 2n ** 256n - 1n;

t.test("each type of the schema comes as its value, there and back", async (t) => {
  const { pool } = createPool(t, { url: await createDatabase(t, { migrations: "none" }) });
  const bytes = Buffer.from("00ff10", "hex");
  const time = new Date("2026-11-21T22:23:24.567Z");
  const { rows } = await pool.query(
    `select $1::int8 as block, $2::numeric(78) as amount, $3::bytea as hash, $4::bytea[] as hashes, $5::text as name,
      $6::bool as ok, $7::timestamptz as at, $8::date as day, $9::text[] as names, $10::int2 as small, null::int as none`,
    [
      Number.MAX_SAFE_INTEGER,
      uint256Max,
      bytes,
      [bytes, new Uint8Array([1])],
      "Käse",
      true,
      time,
      "2026-11-21",
      ['a"b', "c,d"],
      7,
    ],
  );
  const row = read.onlyRow(rows);
  t.equal(read.readInteger(row, "block"), Number.MAX_SAFE_INTEGER);
  t.equal(read.readInteger(row, "small"), 7);
  t.equal(read.readBigint(row, "block"), BigInt(Number.MAX_SAFE_INTEGER));
  t.equal(read.readBigint(row, "small"), 7n);
  t.equal(read.readBigint(row, "amount"), uint256Max);
  t.ok(read.readBytes(row, "hash").equals(bytes));
  t.equal(read.readHex(row, "hash"), "0x00ff10");
  t.strictSame(read.readHexList(row, "hashes"), ["0x00ff10", "0x01"]);
  t.equal(read.readText(row, "name"), "Käse");
  t.strictSame(read.readTextList(row, "names"), ['a"b', "c,d"]);
  t.equal(read.readBoolean(row, "ok"), true);
  t.equal(read.readTime(row, "at").getTime(), time.getTime());
  t.equal(read.readText(row, "day"), "2026-11-21", "no time zone moves a day");
  t.equal(read.readNullable(read.readInteger, row, "none"), null);
  t.equal(read.readNullable(read.readText, row, "name"), "Käse");
});

t.test(
  "a column that is missing, null or of another type is refused by its name, without its value",
  async (t) => {
    const { pool } = createPool(t, { url: await createDatabase(t, { migrations: "none" }) });
    const { rows } = await pool.query(
      "select null::int as none, 'secret' as text, 9007199254740993::int8 as large, 1.5::numeric as part, array[null::bytea] as hashes",
    );
    const row = read.onlyRow(rows);
    const refusals = [
      () => read.readInteger(row, "missing"),
      () => read.readInteger(row, "none"),
      () => read.readInteger(row, "text"),
      () => read.readInteger(row, "large"),
      () => read.readBigint(row, "part"),
      () => read.readBigint(row, "text"),
      () => read.readBytes(row, "text"),
      () => read.readHexList(row, "hashes"),
      () => read.readHexList(row, "text"),
      () => read.readTextList(row, "hashes"),
      () => read.readText(row, "none"),
      () => read.readBoolean(row, "text"),
      () => read.readTime(row, "text"),
      () => read.readNullable(read.readText, row, "missing"),
    ];
    for (const refusal of refusals) {
      const error = t.throws(refusal, {
        name: "RowError",
        message: /^column \w+: .+ was expected, not \w+$/,
      });
      t.notMatch(String(error), /secret/);
    }
    t.throws(() => read.onlyRow([]), { message: "one row was expected, not 0" });
    t.throws(() => read.onlyRow([row, row]), { message: "one row was expected, not 2" });
  },
);
