/**
 * `npm run bench -- NAME`: each benchmark is a program of its own, so that no benchmark changes another's figures. Without a
 * name it is the gateway's.
 */
const benches: Readonly<
  Record<string, { what: string; run: (args: readonly string[]) => Promise<unknown> }>
> = {
  gateway: {
    what: "the gateway, nginx, HAProxy and others at the same work, in turns (this is the default)",
    run: async (args) => (await import("./gateway/main.ts")).main(args),
  },
  workers: {
    what: "the gateway with one worker, two and more: calls a second, CPU time of a call",
    run: async (args) => (await import("./workers/main.ts")).main(args),
  },
  spread: {
    what: "how evenly several processes behind one port get its connections, by the way in which they get them",
    run: async (args) => (await import("./spread/main.ts")).main(args),
  },
  profile: {
    what: "where the gateway's time goes under load, by module and by function",
    run: async (args) => (await import("./profile/main.ts")).main(args),
  },
  streaming: {
    what: "memory and the neighbours' delay while a long trace answer streams to a slow reader",
    run: () => import("./streaming.ts"),
  },
  leases: {
    what: "Redis commands per 1 000 calls, and what is admitted against the limit, over three processes",
    run: () => import("./leases.ts"),
  },
  faucet: {
    what: "time until 500 claims at once are broadcast and confirmed, beside one after the other",
    run: () => import("./faucet.ts"),
  },
  follower: {
    what: "transactions a CPU second of the follower and its PostgreSQL, and how far it is behind the head",
    run: () => import("./follower.ts"),
  },
  api: {
    what: "the API's answers a CPU second against a bare Fastify handler's, and blocks to clients of /live",
    run: async (args) => (await import("./api/main.ts")).main(args),
  },
  pages: {
    what: "the explorer's pages a CPU second against a bare Fastify that has the page ready, and their first paint",
    run: async (args) => (await import("./pages/main.ts")).main(args),
  },
  merchant: {
    what: "webhooks a second beside undici alone, lists of 10 000 invoices and 100 000 deliveries",
    run: async () => (await import("./merchant/main.ts")).main(),
  },
  scale: {
    what: "what keys and limits cost Redis with a million keys in it, and docs/scale.md reckoned from all that was measured",
    run: async (args) => (await import("./scale/main.ts")).main(args),
  },
  websocket: {
    what: "memory of idle sockets, heads to 2 000 subscribers, calls a second against HTTP",
    run: () => import("./websocket.ts"),
  },
};

const list = Object.entries(benches).map(([name, { what }]) => `  ${name.padEnd(10)} ${what}`);
const usage = `Usage: npm run bench -- [NAME] [OPTIONS]\n\n${list.join("\n")}\n\ngateway, workers, spread, profile and scale: --help tells their options\n`;

const [first = ""] = process.argv.slice(2);
const isNamed = first !== "" && !first.startsWith("-");
const name = isNamed ? first : "gateway";
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (first === "--help" || first === "-h") process.stdout.write(usage);
else if (bench === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else await bench.run(process.argv.slice(isNamed ? 3 : 2));
