import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import t from "tap";
import { KeyFileError, openKeyFile } from "../../../gateway/wallet-proxy/key-file.ts";
import { readOptions } from "../../../gateway/wallet-proxy/options.ts";
import { createApiKey } from "../../../lib/keys/api-key.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { runCommand, writeKey } from "./command-rig.ts";
import { ask, startTarget } from "./rig.ts";

const gateway = ["--gateway", "http://127.0.0.1:1"];
const logger = pino({ level: "silent" });

t.test("a key file that cannot be used: says why, and does not show what stands in it", async (t) => {
  const key = createApiKey({
    profile: "production",
    randomBytes: (size) => Uint8Array.from({ length: size }, (_byte, index) => index),
  });
  const files = testFolder(t, {
    empty: " \n",
    cut: key.slice(0, -1),
    swapped: key.slice(0, 20) + key.charAt(21) + key.charAt(20) + key.slice(22),
    short: "tooshort",
    two: `${key}\n${key}\n`,
    large: "x".repeat(5000),
    folder: {},
  });
  const cases = [
    ["empty", "is empty: an API key was expected"],
    ["cut", "has a typing error: its checksum does not match"],
    ["swapped", "has a typing error: its checksum does not match"],
    ["short", "holds something else than one API key"],
    ["two", "holds something else than one API key"],
    ["large", "is too large to be a key file"],
    ["folder", "cannot be read (EISDIR)"],
    ["missing", "cannot be read (ENOENT)"],
  ] as const;
  for (const [name, says] of cases) {
    const file = join(files, name);
    let message = "";
    try {
      openKeyFile({ file, logger }).stop();
    } catch (error) {
      if (error instanceof KeyFileError) message = error.message;
    }
    t.match(message, says, name);
    t.match(message, file);
    t.notMatch(message, key.slice(8, 20));
  }
  const { code, output } = await runCommand(t, [...gateway, "--key-file", join(files, "cut")]).ended;
  t.equal(code, 2);
  t.match(output, "has a typing error");
  t.notMatch(output, key.slice(8, 20));
  t.notMatch(output, /\n {4}at /, "no stack");
});

t.test("a command line that cannot be understood: what was expected, and the usage", async (t) => {
  const both = [...gateway, "--key-file", "key"];
  const cases = [
    [["--key-file", "key"], "--gateway is missing"],
    [gateway, "--key-file is missing"],
    [[...both, "--gateway", "rpc.example"], "--gateway: an address such as https://rpc.example was expected"],
    [[...both, "--gateway", "ftp://rpc.example"], "--gateway: an address"],
    [[...both, "--gateway", "https://rpc.example/v1"], "without a path"],
    [[...both, "--gateway", "https://me:secret@rpc.example"], "or a user"],
    [[...both, "--port", "70000"], '--port: a port, 0 to 65535, was expected, not "70000"'],
    [[...both, "--origin", "*"], "--origin: an address"],
    [[...both, "--origin", "https://*.example"], "--origin: an address"],
    [[...both, "--explorer", "explorer.example"], "--explorer: an address"],
    [[...both, "--faucet", "https://me:secret@faucet.example/"], "--faucet: an address"],
    [[...both, "--host", "0.0.0.0"], "There is no option --host."],
    [[...both, "extra"], '"extra" is one word too many'],
  ] as const;
  for (const [args, says] of cases) {
    t.match(readOptions(args), { kind: "unusable", text: says }, args.join(" "));
    t.match(readOptions(args), { text: "Usage: tollgate-wallet-proxy --gateway URL --key-file FILE" });
  }
  t.match(readOptions([...both, "--origin", "HTTPS://Dapp.Example:443/"]), {
    kind: "run",
    options: { gatewayUrl: "http://127.0.0.1:1", port: 8541, sites: ["https://dapp.example"] },
  });
  const { code, output } = await runCommand(t, gateway).ended;
  t.equal(code, 2);
  t.match(output, /^--key-file is missing: FILE, .*\n\nUsage: /);
  const helped = await runCommand(t, ["--help"]).ended;
  t.equal(helped.code, 0);
  t.match(helped.output, /^Usage: /);
});

t.test("certificates that cannot be used: exit code 2", async (t) => {
  const keyFile = writeKey(t);
  for (const [ca, says] of [
    ["/nonexistent/ca.pem", "--ca: /nonexistent/ca.pem cannot be read (ENOENT)"],
    [keyFile, `--ca: ${keyFile} holds no certificate in PEM form`],
  ] as const) {
    const { code, output } = await runCommand(t, [...gateway, "--key-file", keyFile, "--ca", ca]).ended;
    t.equal(code, 2);
    t.match(output, says);
  }
});

t.test("it serves, tells of a key file that others may read, and ends in order", async (t) => {
  const target = await startTarget(t);
  const key = createApiKey({ profile: "development" });
  const file = writeKey(t, { text: `${key}\n`, mode: 0o644 });
  chmodSync(file, 0o644);
  const command = runCommand(t, [
    ...["--gateway", target.url, "--key-file", file, "--port", "0"],
    ...["--origin", "https://dapp.example", "--origin", "https://other.example/"],
  ]);
  const port = await command.port();
  t.match(command.output(), `chmod 600 ${file}`);
  for (const origin of ["https://dapp.example", "https://other.example"]) {
    t.equal((await ask(port, { headers: { Origin: origin } })).status, 200);
  }
  t.equal((await ask(port, { headers: { Origin: "https://third.example" } })).status, 403);
  t.match(target.requests, [{ headers: { "x-api-key": key } }, { headers: { "x-api-key": key } }]);
  command.kill("SIGINT");
  command.kill("SIGINT");
  const { code, output } = await command.ended;
  t.equal(code, 0);
  t.notMatch(output, key);
});

t.test("a port that is taken: exit code 1, with what to do", async (t) => {
  const target = await startTarget(t);
  const args = [...gateway, "--key-file", writeKey(t), "--port", String(target.port)];
  const { code, output } = await runCommand(t, args).ended;
  t.equal(code, 1);
  t.match(output, `127.0.0.1:${target.port} cannot be listened on; --port PORT chooses another`);
});

t.test("a rotated key is taken without a restart, a broken one is not", async (t) => {
  const target = await startTarget(t);
  const [first, second] = [createApiKey({ profile: "production" }), createApiKey({ profile: "production" })];
  const file = writeKey(t, { text: first });
  const command = runCommand(t, ["--gateway", target.url, "--key-file", file, "--port", "0"]);
  const port = await command.port();
  const sentKey = async () => {
    await ask(port);
    return target.requests.at(-1)?.headers["x-api-key"];
  };
  t.equal(await sentKey(), first);

  writeFileSync(file, second.slice(0, -3));
  await command.writes("the key from before stays in use");
  t.equal(await sentKey(), first);

  // As a careful writer does it: a new file in the place of the old one.
  writeFileSync(`${file}.new`, second, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  await waitFor("the second key is sent", async () => (await sentKey()) === second);
  await command.writes("the key file has another key");
  t.notMatch(command.output(), first);
  t.notMatch(command.output(), second.slice(0, -3));
});
