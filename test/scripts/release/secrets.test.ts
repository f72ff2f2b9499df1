import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createSessionToken } from "../../../api/merchant/session/session-token.ts";
import { createWebhookSecret } from "../../../api/merchant/webhooks/webhook-secret.ts";
import { createApiKey } from "../../../lib/keys/api-key.ts";
import { findGitleaks, findSecrets } from "../../../scripts/release/secrets.ts";
import { testFolder } from "../../helpers/test-folder.ts";

t.setTimeout(180_000);

const root = fileURLToPath(new URL("../../../", import.meta.url));
const gitleaks = await findGitleaks(process.env);
if (gitleaks === undefined && process.env["CI"] === "true") throw new Error("gitleaks is not there");
const skip = gitleaks === undefined && "there is no gitleaks: sh test/scripts/release/prepare.sh installs it";

t.test("no secret is in this repository, nor was", { skip }, async (t) => {
  t.same(await findSecrets({ root, gitleaks: gitleaks ?? "" }), []);
});

t.test(
  "a planted secret is found in a file, and in the history after it was removed",
  { skip },
  async (t) => {
    const folder = testFolder(t);
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
    cpSync(join(root, ".gitleaks.toml"), join(folder, ".gitleaks.toml"));
    const random = (length: number) =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(length))).toString("hex");
    const planted: Record<string, string> = {
      "gateway-key.txt": createApiKey({ profile: "production" }),
      "bought-key.md": `X-Svc-Dev-Key: ${createApiKey({ profile: "production", prefix: "svc" })}`,
      "session.json": JSON.stringify({ token: createSessionToken() }),
      "webhook.env": `SECRET=${createWebhookSecret()}`,
      "signer.yaml": `privateKey: "0x${random(32)}"`,
      "certificate.pem": `-----BEGIN ${"PRIVATE"} KEY-----\n${Buffer.from(random(200)).toString("base64")}\n-----END ${"PRIVATE"} KEY-----\n`,
    };
    git("init", "--quiet", "--initial-branch=main");
    git("config", "user.name", "Tester");
    git("config", "user.email", "tester@example.invalid");
    writeFileSync(
      join(folder, "README.md"),
      "Nothing to hide: tg_dev_DJ06vWzksST9RjoXb9CKPNiGgAEaFqpksDgNgWrWXMW0Sm5ru\n",
    );
    git("add", "--all");
    git("commit", "--quiet", "--message", "First");
    const find = () => findSecrets({ root: folder, gitleaks: gitleaks ?? "" });
    t.same(await find(), [], "a key of development is none");

    for (const [file, text] of Object.entries(planted)) writeFileSync(join(folder, file), `${text}\n`);
    const before = (await find()).join("\n");
    for (const [file, text] of Object.entries(planted)) {
      t.match(before, new RegExp(`^${file}:\\d+ \\(`, "m"), "not committed yet");
      t.notOk(before.includes(text.slice(-20)), "it is told, and not shown");
    }
    git("switch", "--quiet", "--create", "topic");
    git("add", "--all");
    git("commit", "--quiet", "--message", "By mistake");
    for (const file of Object.keys(planted)) rmSync(join(folder, file));
    git("commit", "--quiet", "--all", "--message", "Away with them");
    git("switch", "--quiet", "main");
    const after = await find();
    for (const file of Object.keys(planted)) {
      t.ok(
        after.some((line) => /^[0-9a-f]{12} /.test(line) && line.includes(` ${file}:`)),
        `${file} is on another branch's past`,
      );
    }
  },
);

t.test("the rules that others are told of are ours", async (t) => {
  const [, block = ""] =
    /^```toml\n([\s\S]*?)\n```$/m.exec(readFileSync(join(root, "docs/secret-scanning.md"), "utf8")) ?? [];
  t.ok(block.length > 500);
  t.ok(readFileSync(join(root, ".gitleaks.toml"), "utf8").includes(block));
});
