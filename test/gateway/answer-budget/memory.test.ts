import t from "tap";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { runGateway, whenServing, writeConfig } from "../../helpers/gateway-process.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { askWithoutReading, heldBytes, logsOf, mebibyte, metric, sized } from "./long-answers.ts";

/** Well below the limit that docker/compose.yaml gives a process (1 GiB). */
const ceilingBytes = 800 * mebibyte;
const boundMet = 'tollgate_gateway_answer_bounds_met_total{bound="body"}';

t.test("readers that read nothing of many long answers leave the process below a ceiling", async (t) => {
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t, { answer: sized })]);
  // Arrays as short as this, so that the stand-in in this process has time to answer.
  const more = "forward: { arrays: { light: 2 } }";
  const config = writeConfig(t, { redisUrl: redis.url, upstream: validator.url, more });
  const gateway = await whenServing(runGateway(t, ["--config", config]));
  const from = { opsUrl: `http://127.0.0.1:${gateway.opsPort}` };
  for (let reader = 0; reader < 6; reader += 1) {
    const batch = Array.from({ length: 20 }, (_, id) => logsOf(id, 4 * mebibyte, reader * 100 + id));
    askWithoutReading(t, gateway, batch);
  }
  let most = 0;
  let mostHeld = 0;
  await waitFor(
    "all have their answers, and memory was looked at",
    async () => {
      most = Math.max(most, await metric(from, "process_resident_memory_bytes"));
      mostHeld = Math.max(mostHeld, await heldBytes(from));
      return mostHeld > 16 * mebibyte && (await metric(from, boundMet)) > 0;
    },
    { withinMs: 20_000 },
  );
  t.ok(most < ceilingBytes, `${Math.round(most / mebibyte)} MiB at most`);
  t.ok(mostHeld <= 64 * mebibyte, "as much as one key may hold");
});
