import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { opsOrigin } from "../../../lib/service/ask-reload.ts";
import { testFolder } from "../../helpers/test-folder.ts";

t.test(
  "where a running process is asked: what its file says, by an address that can be reached",
  async (t) => {
    const file = join(testFolder(t), "gateway.yaml");
    const originOf = (text: string) => {
      writeFileSync(file, text);
      return opsOrigin({ file, env: { OPS_PORT: "19540" }, defaultPort: 9540 });
    };
    const cases = [
      ["port: 1\n", "http://127.0.0.1:9540"],
      ["ops: { port: 1234 }\n", "http://127.0.0.1:1234"],
      [`ops: { port: "${"$"}{OPS_PORT:-1}" }\nlimits: wrong\n`, "http://127.0.0.1:9540"],
      ["ops:\n  port: ${OPS_PORT:-1}\nlimits: wrong\n", "http://127.0.0.1:19540"],
      ["ops: { host: 0.0.0.0, port: 1 }\n", "http://127.0.0.1:1"],
      ['ops: { host: "::", port: 1 }\n', "http://[::1]:1"],
      ['ops: { host: "fd00::5", port: 1 }\n', "http://[fd00::5]:1"],
      ["ops: { host: 10.0.0.5, port: 1 }\n", "http://10.0.0.5:1"],
    ] as const;
    for (const [text, origin] of cases) t.equal(originOf(text).origin, origin, text);

    const { origin, problems } = originOf("ops: { port: 1234 }\nport: [\n");
    t.equal(origin, "http://127.0.0.1:9540", "a file that cannot be read tells none");
    t.match(problems, [/gateway\.yaml:3: /]);
  },
);
