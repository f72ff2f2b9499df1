import t from "tap";
import { networkStatus } from "../../../scripts/network/chain/network-status.ts";
import { whatToDo } from "../../../scripts/network/docker/container-troubles.ts";
import { diskTrouble } from "../../../scripts/network/native/disk-trouble.ts";
import { testFolder } from "../../helpers/test-folder.ts";

t.test(
  "a validator whose disk is full is said to be that, with the place and the runbook's chapter",
  async (t) => {
    const folder = testFolder(t, {});
    t.equal(await diskTrouble(folder), undefined, "the disk of this machine has room");
    t.equal(await diskTrouble(`${folder}/none`), undefined);
    const trouble = await diskTrouble(folder, {
      bytesFree: async () => ({ freeBytes: 1024 * 1024, sizeBytes: 20_480 * 1024 * 1024 }),
    });
    t.equal(
      trouble,
      `is stopped: its disk is full, 1 of 20480 MB are free at ${folder} (docker/RUNBOOK.md, chapter "Disk")`,
    );
    const address = (digit: string) => `0x${digit.repeat(40)}`;
    const view = { rpcUrl: "http://127.0.0.1:1", state: "stopped" as const, headers: [] };
    const { reasons } = networkStatus({
      views: [
        {
          ...view,
          name: "validator-1",
          address: address("1"),
          ...(trouble === undefined ? {} : { trouble }),
        },
        { ...view, name: "validator-2", address: address("2") },
      ],
      nowMs: 0,
      stalledAfterSeconds: 10,
    });
    t.same(reasons.slice(1), [`validator-1 ${trouble}`, "validator-2 is stopped"]);
  },
);

t.test("each service has its chapter", async (t) => {
  for (const [service, chapter] of [
    ["redis-faucet", "Redis"],
    ["gateway", "Gateway"],
    ["faucet", "Faucet"],
    ["validator-3", "One down"],
    ["trace-node", "Traces"],
    ["grafana", "Bring up"],
  ] as const) {
    t.match(whatToDo(service), `RUNBOOK.md, chapter "${chapter}".`);
  }
});
