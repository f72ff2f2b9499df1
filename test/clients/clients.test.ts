import t, { type Test } from "tap";
import { testCast } from "./cast.ts";
import { testEthers } from "./ethers.ts";
import { prepareHardhat } from "./hardhat.ts";
import { type ClientRig, startNetwork } from "./rig.ts";
import { testViem } from "./viem.ts";
import { testWeb3js } from "./web3.ts";
import { testWeb3py } from "./web3py.ts";
import { prepareWeb3py } from "./web3py-environment.ts";

/** The first time it has Python packages to install, on a machine that may be busy. */
t.setTimeout(400_000);

t.test("every client, with only URL and header set", async (t) => {
  // What has to be installed or loaded first would disturb the others' waits.
  const hardhat = await prepareHardhat(t);
  const web3py = await prepareWeb3py(t);
  const network = await startNetwork(t);
  const tests: [name: string, test: (t: Test, rig: ClientRig) => Promise<void>][] = [
    ["ethers", testEthers],
    ["viem", testViem],
    ["web3.js", testWeb3js],
    ["cast", testCast],
    ["Hardhat", hardhat.test],
  ];
  if ("python" in web3py) tests.push(["web3.py", (t, rig) => testWeb3py(t, rig, web3py.python)]);
  else t.pass("web3.py", { skip: web3py.missing });

  // Most of their time is waiting, for blocks and for back-offs of their own, so they do it at the same time.
  t.jobs = tests.length;
  const rigs: ClientRig[] = [];
  for (const _ of tests) rigs.push(await network.startRig());
  for (const [index, [name, test]] of tests.entries()) {
    const rig = rigs[index];
    if (rig !== undefined) t.test(name, { buffered: true }, (t) => test(t, rig));
  }
});
