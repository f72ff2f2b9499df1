import t from "tap";
import type { ApiConfig } from "../../api/config.ts";
import { reloadInTurn } from "../helpers/ask-reload.ts";
import { startApi } from "./support/start-api.ts";
import { startServices } from "./support/start-world.ts";

const services = await startServices(t);

t.test(
  "the limit, the origins and the log's level change in a running API; all else is refused",
  async (t) => {
    let started: ApiConfig | undefined;
    let next: ApiConfig | undefined;
    const origins = ["https://explorer.example", "https://www.example"];
    const api = await startApi(t, {
      ...services,
      change: (config) => {
        started = { ...config, profile: "production", origins, limits: { ...config.limits, points: 100 } };
        return started;
      },
      readAgain: () => (next === undefined ? { problems: ["nothing was written"] } : { config: next }),
    });
    // Production sells nothing here: what the test's API runs with says so.
    const running = (): ApiConfig => {
      if (started === undefined) throw new Error("it has not started");
      return { ...started, svcDev: { ...started.svcDev, orderSigner: { kind: "none" } } };
    };
    const policyFor = async (origin: string) => {
      const { headers } = await api.get("/api/v1/blocks", { Origin: origin });
      return { allowed: headers.get("access-control-allow-origin"), policy: headers.get("ratelimit-policy") };
    };
    t.match(await policyFor("https://www.example"), { allowed: "https://www.example", policy: /q=100/ });

    next = { ...running(), origins: ["https://explorer.example", "https://new.example"] };
    next.limits = { ...next.limits, points: 50 };
    t.match(await reloadInTurn(api, "?dry-run"), { status: 200, body: { outcome: "checked" } });
    t.match(await policyFor("https://www.example"), { allowed: "https://www.example", policy: /q=100/ });
    t.match(await reloadInTurn(api), {
      status: 200,
      body: {
        outcome: "changed",
        changes: [
          { path: "origins", from: origins, to: next.origins },
          { path: "limits.points", from: 100, to: 50 },
        ],
      },
    });
    t.match(await policyFor("https://www.example"), { allowed: null, policy: /q=50/ });
    t.match(await policyFor("https://new.example"), { allowed: "https://new.example", policy: /q=50/ });

    const fixed = next;
    next = {
      ...fixed,
      postgres: { ...fixed.postgres, url: "postgres://user:secret-password@127.0.0.1/x" },
      origins,
    };
    t.same(await reloadInTurn(api), {
      status: 409,
      body: { outcome: "refused", problems: ["postgres.url cannot change without a restart"] },
    });
    t.match(
      await policyFor("https://new.example"),
      { allowed: "https://new.example" },
      "nothing else is taken",
    );
    const { config }: { config: { lastReload: unknown } } = JSON.parse(
      await (await fetch(`${api.opsUrl}/status`)).text(),
    );
    t.match(config.lastReload, { outcome: "refused", problems: [/^postgres\.url/] });
    t.notMatch(api.logLines.join(""), "secret-password");

    next = { ...fixed, log: { ...fixed.log, level: "error" } };
    t.match(await reloadInTurn(api), { body: { outcome: "changed" } });
    const lines = api.logLines.length;
    next = { ...next, port: 1 };
    t.match(await reloadInTurn(api), { body: { outcome: "refused" } });
    t.equal(api.logLines.length, lines, "a refusal is a warning, which is not logged any more");
  },
);
