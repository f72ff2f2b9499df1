import t from "tap";
import { createGenesis } from "../../../genesis/genesis-file.ts";
import { changedArtifacts } from "../../../scripts/contracts/artifact-files.ts";
import { compileContracts, compilerSettings } from "../../../scripts/contracts/compile-contracts.ts";

t.test("what is checked in is what the sources compile to, byte for byte", async (t) => {
  const compiled = await compileContracts();
  t.same(await changedArtifacts(compiled), []);
  const altered = compiled.map((contract) => ({ ...contract, initCode: `${contract.initCode}00` }));
  t.equal((await changedArtifacts(altered)).length, compiled.length, "another byte is seen");
});

t.test("the compiler's EVM is that of the newest fork in our genesis block", async (t) => {
  const { config } = createGenesis({
    consensus: "ibft2",
    chainId: 8845,
    validators: [`0x${"11".repeat(20)}`],
    blockSeconds: 2,
    requestTimeoutSeconds: 4,
    epochBlocks: 30_000,
    gasLimit: 30_000_000,
    accounts: [],
  });
  const forks = ["berlin", "london", "paris", "shanghai", "cancun", "prague", "osaka", "amsterdam"];
  const switched = forks.filter((fork) => `${fork}Time` in config || `${fork}Block` in config);
  t.equal(compilerSettings.evmVersion, switched.at(-1));
});
