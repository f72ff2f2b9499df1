import t from "tap";
import { rateLimitHeaders } from "../../../gateway/limits/rate-limit-headers.ts";

const admitted = { limit: 100, remaining: 50, resetMs: 30_000, windowSeconds: 60, retryAfterMs: 0 };

t.test("both fields as the draft writes them", async (t) => {
  t.strictSame(rateLimitHeaders(admitted), {
    policy: '"default";q=100;w=60',
    limit: '"default";r=50;t=30',
    retryAfter: undefined,
  });
});

t.test("seconds are whole and rounded up", async (t) => {
  const refused = { ...admitted, remaining: 0, resetMs: 29_000.01, retryAfterMs: 29_000.01 };
  t.match(rateLimitHeaders(refused), { limit: '"default";r=0;t=30', retryAfter: "30" });
  t.match(rateLimitHeaders({ ...refused, resetMs: 0.2, retryAfterMs: 0.2 }), {
    limit: '"default";r=0;t=1',
    retryAfter: "1",
  });
});
