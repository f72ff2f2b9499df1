import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { runNetwork } from "../../../scripts/network/run-network.ts";
import { makeNetwork } from "./rig.ts";

t.setTimeout(200_000);

t.test(
  "validators that something else runs are looked at, voted in and out, and never started or stopped",
  async (t) => {
    const { folder, network, statusWhen, rpcUrl, configFile } = await makeNetwork(t);
    // 24610, 24620 … are 246N0.
    const at = rpcUrl(1).replace(/10$/, "N0");
    const elsewhere = async (args: readonly string[], address = at) => {
      const said: string[] = [];
      const code = await runNetwork({
        args: [...args, "--at", address, "--folder", folder, "--config", configFile],
        env: { PATH: "/nowhere" },
        now: Date.now,
        progress: { show: () => {}, end: () => {} },
        signal: new AbortController().signal,
        print: (text) => said.push(text),
        note: (text) => said.push(text),
      });
      return { code, said: said.join("\n") };
    };

    await t.test("an address without a place for the number is refused", async (t) => {
      for (const wrong of ["http://127.0.0.1:8545", "validator-N:8545", "N"])
        t.match(
          await elsewhere(["status"], wrong),
          { code: 2, said: /--at: an address with N in place/ },
          wrong,
        );
      t.match(await elsewhere(["status", "--native"]), {
        code: 2,
        said: /--at and --native do not go together/,
      });
    });

    t.match(await elsewhere(["status"]), { code: 1 }, "while nobody answers");
    t.equal((await network("up")).code, 0);
    await statusWhen(({ verdict, height }) => verdict === "fine" && (height ?? 0) >= 2);

    await t.test("status and the operator's calls need nothing but the addresses", async (t) => {
      t.match(await elsewhere(["status"]), { code: 0, said: /validator-5 +up/ });
      t.match(await elsewhere(["rpc", "2", "ibft_getPendingVotes"]), { code: 0, said: "{}" });
    });

    await t.test("what starts or stops says where that is done", async (t) => {
      for (const args of [["stop", "3"], ["logs", "3"], ["down"]])
        t.match(
          await elsewhere(args),
          { code: 1, said: /runs elsewhere, and is .* there: docs\/kubernetes\.md/ },
          args.join(" "),
        );
      t.match(await elsewhere(["status"]), { code: 0 }, "and nothing was stopped");
    });

    await t.test("add makes the files first, and goes on when the node is there", async (t) => {
      t.match(await elsewhere(["validator", "add", "6"]), {
        code: 1,
        said: /validator-6 does not answer at http:.*60: start it where it runs.*then run this again\.\nThe validators are as they were/s,
      });
      t.ok(existsSync(join(folder, "validator-6", "key")));
      const key = readFileSync(join(folder, "validator-6", "key"), "utf8");
      t.match(readFileSync(join(folder, "network.json"), "utf8"), /"validator-6"/);
      t.equal((await network("start", "6")).code, 0);
      t.match(await elsewhere(["validator", "add", "6"]), {
        code: 0,
        said: /has validator-6 among 6 validators/,
      });
      t.equal(readFileSync(join(folder, "validator-6", "key"), "utf8"), key);
    });

    await t.test("remove votes one out, and leaves its node and its place", async (t) => {
      t.match(await elsewhere(["validator", "remove", "6"]), {
        code: 1,
        said: /validator-6 runs elsewhere, and is stopped there/,
      });
      t.match(await elsewhere(["validator", "list"]), { code: 0, said: /5 validators/ });
      t.match(readFileSync(join(folder, "network.json"), "utf8"), /"validator-6"/);
    });
  },
);
