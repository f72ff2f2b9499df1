import type { OptionTable, SingleProgram } from "../../lib/cli/command.ts";

const options: OptionTable = {
  url: { value: "URL", text: "the gateway (default: http://127.0.0.1:8540, that of npm start)" },
  "key-file": { value: "FILE", text: "a file with the API key; or the variable TOLLGATE_KEY" },
  key: { value: "KEY", text: "the API key itself, which other users of this machine can see" },
  rate: {
    value: "N",
    text: "scripts of the mix to begin a second, whether earlier ones are answered or not",
  },
  clients: {
    value: "N",
    text: "instead of a rate: clients that each begin the next script when the last has ended",
  },
  duration: { value: "TIME", text: "how long at that rate, or with these clients (default: 60s)" },
  ramp: {
    value: "STAGES",
    text: "rates that go before: 10..500/30s is a slope, 100/10s,200/10s are steps; alone or with --rate",
  },
  warmup: {
    value: "TIME",
    text: "load at the first rate before the plan, not counted (default: 2s; 0 for none)",
  },
  arrivals: {
    value: "KIND",
    text: "constant (default): evenly spaced; poisson: at random, as independent users come",
  },
  connections: {
    value: "N",
    text: "keep-alive connections, with one request each at a time (default: 64, or one a client)",
  },
  timeout: {
    value: "TIME",
    text: "how long a request may wait for a connection, and for its answer (default: 10s)",
  },
  mix: {
    value: "FILE",
    text: "the load file: which calls are made; it may have stages and thresholds too (default: config/mix.yaml)",
  },
  processes: {
    value: "N",
    text: "run it as several processes whose figures are added; auto: one a core (default: 1)",
  },
  seed: { value: "N", text: "repeats the random choices of the run that printed it" },
  "funder-key-file": {
    value: "FILE",
    text: "a file with the private key that funds the mix's senders (needless on a chain of anvil)",
  },
  "max-p50": { value: "TIME", text: "threshold: half of the requests are answered within it" },
  "max-p90": { value: "TIME", text: "the same for 90 %" },
  "max-p99": { value: "TIME", text: "the same for 99 %" },
  "max-error-rate": { value: "PERCENT", text: "threshold: calls that failed or were not sent, such as 0.1%" },
  json: { value: "FILE", text: "the report for machines; - for standard output" },
  html: { value: "FILE", text: "the report as one page with plots" },
  junit: { value: "FILE", text: "the thresholds as JUnit XML, a test case each, for CI servers" },
  ca: { value: "FILE", text: "certificates (PEM) to trust, for https" },
};

export const loadProgram: SingleProgram = {
  invocation: "npm run load --",
  summary:
    "Drives scripted JSON-RPC load through a gateway at a fixed rate; reports latencies, counted from the time at which\n" +
    "each request was due, and errors.",
  options,
  details: [
    "Exit codes: 0 done, thresholds kept; 99 a threshold missed; 2 nothing was measured: the command line, the load file,",
    "the key or the address cannot be used; 130 or 143 ended early by Ctrl-C or SIGTERM, after a report of what was measured;",
    "1 the load tool itself failed, or one of its processes did.",
    "",
    "npm run load -- --key-file key.txt --rate 500 --duration 60s --max-p99 50ms --max-error-rate 0.1% --html load.html",
    "npm run load -- compare A.json B.json    compares two runs; compare --help has its options",
    "npm run load -- --key-file key.txt --ramp 10..500/30s --rate 500",
  ],
};
