import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { aliceWallet, sessionPath } from "../api/merchant/support/sign-in.ts";
import { startApi } from "../api/support/start-api.ts";
import { startServices } from "../api/support/start-world.ts";
import { runCommand } from "../helpers/run-command.ts";

const text = readFileSync(new URL("../../docs/wallet-session.md", import.meta.url), "utf8");
const programs = [...text.matchAll(/^## (.+)\n[^#]*?```(js|sh)\n([^`]*(?:`(?!``)[^`]*)*)```/gm)];

const { anvil: _anvil, ...services } = await startServices(t);
const api = await startApi(t, services);
const bin = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url));
const env = {
  ...process.env,
  PATH: [dirname(process.execPath), bin, process.env["PATH"]].join(":"),
  NODE_OPTIONS: "",
  API: api.url,
  PRIVATE_KEY: aliceWallet.privateKey,
};

t.test("each program of docs/wallet-session.md signs in, word for word", async (t) => {
  t.same(
    programs.map(([, name]) => name),
    ["ethers", "viem", "curl and cast"],
  );
  for (const [, name = "", language, source = ""] of programs) {
    const [program, args] =
      language === "js" ? [process.execPath, ["--input-type=module", "-e", source]] : ["sh", ["-c", source]];
    const { code, lines } = await runCommand(t, { program, args, env });
    t.equal(code, 0, `${name}: ${lines.join("\n")}`);
    const token = lines.at(-1) ?? "";
    t.match(token, /^wst_/, name);
    t.match(await api.get(sessionPath, { Authorization: `Bearer ${token}` }), {
      status: 200,
      json: { session: { address: aliceWallet.address } },
    });
  }
});
