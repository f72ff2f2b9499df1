import t from "tap";
import { judgeAttempt } from "../../../../api/merchant/webhooks/judge-attempt.ts";

const nowMs = 1_900_000_000_000;
const middle = () => 0.5;
const failed = { status: 500, error: null, retryAfter: undefined, nowMs, random: middle };
const judge = (given: Partial<Parameters<typeof judgeAttempt>[0]>) =>
  judgeAttempt({ ...failed, tries: 1, ...given });

t.test("only 2xx with a whole answer is success", async (t) => {
  for (const status of [200, 201, 204, 299]) t.same(judge({ status }), { state: "delivered" });
  for (const status of [199, 300, 302, 304, 400, 404, 500, 599])
    t.equal(judge({ status }).state, "waiting", `${status}`);
  t.equal(judge({ status: 200, error: "No whole answer within 15 seconds" }).state, "waiting");
  t.equal(judge({ status: null, error: "Nobody listens at the address" }).state, "waiting");
});

t.test("it is tried ten times by the schedule, and then given up", async (t) => {
  const seconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  for (const [index, wait] of seconds.entries()) {
    const tries = index + 1;
    t.same(judge({ tries }), { state: "waiting", againAfterMs: wait * 1000 });
    t.same(judge({ tries, random: () => 0 }), { state: "waiting", againAfterMs: wait * 800 });
    t.same(judge({ tries, random: () => 1 }), { state: "waiting", againAfterMs: wait * 1200 });
  }
  t.same(judge({ tries: 10 }), { state: "dead", isGone: false });
  t.same(judge({ tries: 11 }), { state: "dead", isGone: false });
});

t.test("a receiver that asks for time gets up to an hour, where its status can mean that", async (t) => {
  const again = (retryAfter: string, status = 503, tries = 1) => judge({ status, retryAfter, tries });
  for (const status of [429, 502, 503, 504])
    t.same(again("120", status), { state: "waiting", againAfterMs: 120_000 }, `${status}`);
  t.same(again("120", 500), { state: "waiting", againAfterMs: 5000 });
  t.same(again("999999999"), { state: "waiting", againAfterMs: 3_600_000 });
  t.same(again("1"), { state: "waiting", againAfterMs: 5000 }, "never sooner than the schedule has it");
  t.same(again("120", 503, 4), { state: "waiting", againAfterMs: 7_200_000 });
  t.same(again(new Date(nowMs + 90_000).toUTCString()), { state: "waiting", againAfterMs: 90_000 });
  for (const text of ["", "-1", "1e9", "soon", "Sat, 01 Jan 2000 00:00:00 GMT"])
    t.same(again(text), { state: "waiting", againAfterMs: 5000 }, text);
});

t.test("410 says that nothing is wanted there any more", async (t) => {
  t.same(judge({ status: 410 }), { state: "dead", isGone: true });
});
