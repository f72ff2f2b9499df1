import t from "tap";
import { createDrain } from "../../../gateway/server/drain.ts";

const longMs = 60_000;

t.test("the wait is over when the last request has ended", async (t) => {
  const drain = createDrain({ lingerMs: longMs });
  drain.requestBegan();
  drain.requestBegan();
  let isOver = false;
  const waited = drain.untilDone(longMs).then(() => {
    isOver = true;
  });
  drain.requestEnded();
  await Promise.resolve();
  t.notOk(isOver, "one request is still in flight");
  drain.requestEnded();
  await waited;
  t.ok(drain.isDone());
});

t.test("connections that are only open hold nothing up", async (t) => {
  const drain = createDrain({ lingerMs: longMs });
  drain.countConnection(1);
  t.ok(drain.isDone());
  await drain.untilDone(longMs);
});

t.test("a streamed answer holds the end up until its connection has closed", async (t) => {
  const drain = createDrain({ lingerMs: longMs });
  drain.countConnection(1);
  drain.linger();
  t.notOk(drain.isDone());
  const waited = drain.untilDone(longMs);
  drain.countConnection(-1);
  await waited;
  t.ok(drain.isDone());
});

t.test("the wait has an end, whatever is in flight", async (t) => {
  const drain = createDrain({ lingerMs: longMs });
  drain.requestBegan();
  await drain.untilDone(5);
  t.notOk(drain.isDone());
});

t.test("answers know whether the server is stopping", async (t) => {
  const drain = createDrain({ lingerMs: longMs });
  t.notOk(drain.isStopping());
  drain.begin();
  t.ok(drain.isStopping());
});
