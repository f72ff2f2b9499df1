import { randomBytes } from "node:crypto";
import t from "tap";
import { createUuid, idOf, publicId } from "../../../api/merchant/public-id.ts";

t.test("an id is read back into its UUID, which sorts by time", async (t) => {
  const uuids = [0, 1, 1_900_000_000_000, 2 ** 48 - 1].map((nowMs) => createUuid({ nowMs }));
  for (const uuid of [
    ...uuids,
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
  ]) {
    t.match(publicId("ord", uuid), /^ord_[0-9A-Za-z]{22}$/);
    t.equal(idOf("ord").parse(publicId("ord", uuid)), uuid);
  }
  t.same(uuids.toSorted(), uuids);
  t.same(
    uuids.map((uuid) => publicId("key", uuid)).toSorted(),
    uuids.map((uuid) => publicId("key", uuid)),
  );
  for (const random of [Buffer.alloc(10), Buffer.alloc(10, 255), randomBytes(10)]) {
    t.match(createUuid({ nowMs: 1, random }), /^00000000-0001-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

t.test("what is no id of its kind is refused", async (t) => {
  const id = publicId("ord", createUuid({ nowMs: 1 }));
  for (const text of [
    id.slice(1),
    `${id}0`,
    id.replace("ord", "key"),
    `${id.slice(0, -1)}-`,
    "",
    `ord_${"z".repeat(22)}`,
  ]) {
    t.notOk(idOf("ord").safeParse(text).success, text);
  }
});
