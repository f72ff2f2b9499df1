import { arch, platform } from "node:os";
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { foundryProgram } from "../../scripts/processes/foundry-program.ts";
import { runCommand } from "../helpers/run-command.ts";
import { tallyBytecode } from "./contract/tally.ts";
import { memberAt } from "./member-at.ts";
import { testRefusals } from "./refusals.ts";
import type { ClientRig } from "./rig.ts";

const example = fileURLToPath(new URL("examples/cast.sh", import.meta.url));
const folder = dirname(foundryProgram("cast", { platform: platform(), arch: arch() }));

export async function testCast(t: Test, rig: ClientRig): Promise<void> {
  const { receiver } = rig;
  const { address: sender, privateKey } = rig.sender;
  await t.test("reads, sends, deploys, calls and decodes", async (t) => {
    const cast = connect(t, { url: rig.gateway.url, key: rig.key });
    const send = async (...args: string[]): Promise<unknown> =>
      JSON.parse(await cast("send", "--private-key", privateKey, "--json", ...args));

    t.equal(await cast("chain-id"), "8845");
    const before = BigInt(await cast("balance", receiver));
    const nonce = Number(await cast("nonce", sender));
    // The second does not wait for the first, so cast cannot find its nonce out by itself.
    const first = await cast("send", receiver, "--value", "1ether", "--private-key", privateKey, "--async");
    const second = await send(receiver, "--value", "2ether", "--nonce", String(nonce + 1));
    t.equal(memberAt(second, "status"), "0x1");
    t.equal(await cast("receipt", first, "status"), "true");
    t.equal(BigInt(await cast("balance", receiver)), before + 3n * 10n ** 18n);

    const deployed = await send("--create", tallyBytecode, "constructor(uint256)", "5");
    const tally = String(memberAt(deployed, "contractAddress"));
    t.equal(await cast("call", tally, "value()(uint256)"), "5");
    t.ok(Number(await cast("estimate", tally, "raise(uint256)", "7", "--from", sender)) > 21_000);
    const raised = await send(tally, "raise(uint256)", "7");
    const block = String(Number(memberAt(raised, "blockNumber")));
    const within = ["--address", tally, "--from-block", block, "--to-block", block];
    const logs: unknown = JSON.parse(
      await cast("logs", "Raised(address indexed,uint256)", ...within, "--json"),
    );
    t.equal(Number(memberAt(logs, "0.data")), 12);
    t.equal(await cast("call", tally, "value()(uint256)"), "12");

    const tooMuch = await cast("call", tally, "raise(uint256)", "101").catch((error: Error) => error.message);
    // Its interface is not known to cast: it shows the selector, and `cast decode-error` reads the data.
    const data = /data: "(0x[0-9a-f]+)"/.exec(tooMuch)?.[1] ?? "";
    t.equal(await cast("decode-error", data, "--sig", "TooMuch(uint256,uint256)"), "101\n100");
    await t.rejects(cast("estimate", tally, "refuse()"), { message: /the tally is closed/ });

    t.match(await cast("gas-price"), /^\d+$/);
    t.match(await cast("rpc", "eth_feeHistory", "0x4", "latest", "[50]"), /"oldestBlock":"0x/);
  });

  await t.test("the launcher of the npm package hides that cast has failed", async (t) => {
    const program = fileURLToPath(new URL("../../node_modules/.bin/cast", import.meta.url));
    const { code, lines } = await runCommand(t, { program, args: ["chain-id", "-r", rig.gateway.url] });
    t.match(lines[0], "Error: HTTP error 401");
    t.equal(code, 0);
  });

  await testRefusals(t, rig, {
    name: "cast",
    open(connection) {
      const cast = connect(t, connection);
      return { read: () => cast("balance", receiver), request: (method) => cast("rpc", method) };
    },
    describe: (error) => ({
      error: `exit code ${memberAt(error, "code")}`,
      says: String(memberAt(error, "message")),
    }),
  });
}

/** Runs cast as the example does. Rejects with what it prints where it fails. */
function connect(t: Test, { url, key }: { url: string; key: string }) {
  const PATH = `${folder}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH, TOLLGATE_URL: url, TOLLGATE_KEY: key };
  return async (...args: string[]): Promise<string> => {
    const asksGateway = args[0] !== "decode-error";
    const { code, lines } = asksGateway
      ? await runCommand(t, { program: "sh", args: [example, ...args], env })
      : await runCommand(t, { program: "cast", args, env });
    const text = lines.join("\n").trim();
    if (code !== 0) throw Object.assign(new Error(text), { code });
    return text;
  };
}
