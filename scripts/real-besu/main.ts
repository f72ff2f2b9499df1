import { parseArgs } from "node:util";
import { runRealBesu } from "./run-real-besu.ts";

/** `npm run real-besu -- --besu-home DIR` or `-- --containers`: docs/real-besu.md says what is looked at. */
const { values } = parseArgs({
  options: {
    "besu-home": { type: "string" },
    containers: { type: "boolean", default: false },
    config: { type: "string", default: "config/network.yaml" },
    short: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help || (values["besu-home"] === undefined) === !values.containers) {
  process.stdout.write(
    [
      "npm run real-besu -- --besu-home DIR    the validators as processes of an unpacked Besu",
      "npm run real-besu -- --containers       in containers, with the images that docker/compose.yaml names",
      "  --config FILE                         another network than that of config/network.yaml: QBFT, say",
      "  --short                               less of each: for a try",
      "It makes a network of its own in a temporary folder and removes it. About 15 minutes; exits with 0 where all is ok.",
      "",
    ].join("\n"),
  );
  process.exitCode = values.help ? 0 : 2;
} else {
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort());
  process.exitCode = await runRealBesu({
    besuHome: values["besu-home"],
    configFile: values.config,
    short: values.short,
    env: process.env,
    signal: stopping.signal,
    print: (text) => process.stdout.write(`${text}\n`),
  });
}
