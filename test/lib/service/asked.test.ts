import { join } from "node:path";
import process from "node:process";
import t from "tap";
import { reservePort } from "../../../scripts/processes/reserved-port.ts";
import { runCommand } from "../../helpers/run-command.ts";
import { testFolder } from "../../helpers/test-folder.ts";

/* `reload` and `restart` of a service's command line, where nobody answers. */

for (const [command, module, run] of [
  ["reload", "run-reload.ts", "runReload"],
  ["restart", "run-restart.ts", "runRestart"],
] as const) {
  t.test(command, async (t) => {
    const opsPort = await reservePort();
    const file = join(testFolder(t, { "bad.yaml": "port: [\n" }), "bad.yaml");
    const service = { name: "gateway", invocation: "gateway", configFile: file, opsPort };
    const code = `import { ${run} } from ${JSON.stringify(new URL(`../../../lib/service/${module}`, import.meta.url))};
await ${run}(${JSON.stringify(service)}, process.argv.slice(1));`;
    const ask = async (...args: string[]) => {
      const nodeArgs = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", code, "--"];
      const ended = await runCommand(t, { program: process.execPath, args: [...nodeArgs, ...args] });
      return { code: ended.code, text: ended.lines.join("\n") };
    };

    const unread = await ask();
    t.equal(unread.code, 1);
    t.match(unread.text, `http://127.0.0.1:${opsPort}`, "it asks at the usual port");
    t.match(unread.text, /The file tells no address:\n {2}\S+bad\.yaml:2: /, "and says why it asked there");
    t.notMatch((await ask("--ops", `http://127.0.0.1:${opsPort}`)).text, "tells no address");

    t.match(await ask("--ops", "nowhere"), { code: 2, text: /an address such as http:/ });
  });
}
