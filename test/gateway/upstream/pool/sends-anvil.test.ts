import { Transaction } from "ethers/transaction";
import t from "tap";
import { startAnvilProcess } from "../../../fakes/validators/anvil-process.ts";
import { ask, developmentWallet, signed } from "../../../fakes/validators/rpc.ts";
import { startPool } from "./start-pool.ts";

const anvil = await startAnvilProcess({ chainId: 8845, genesisTimestampSeconds: 1_700_000_000 });
t.teardown(() => anvil.kill());
const alice = developmentWallet(0);

t.test("a development chain's words for a known transaction are understood too", async (t) => {
  const { result } = startPool(t, [anvil.url]);
  const raw = await signed(alice, 0);
  const { hash } = Transaction.from(raw);
  t.equal(await result("eth_sendRawTransaction", [raw]), hash);
  t.match(await ask(anvil.url, "eth_sendRawTransaction", [raw]), { error: { message: /already imported/ } });
  t.equal(await result("eth_sendRawTransaction", [raw]), hash, "pending");

  await ask(anvil.url, "evm_mine");
  t.match(await ask(anvil.url, "eth_sendRawTransaction", [raw]), { error: { message: /nonce too low/ } });
  t.equal(await result("eth_sendRawTransaction", [raw]), hash, "mined");

  const other = await signed(alice, 0, { value: 9n });
  t.match(await result("eth_sendRawTransaction", [other]), { code: -32003, message: "nonce too low" });
  t.match(await result("eth_sendRawTransaction", ["0x1234"]), { message: /Failed to decode/ });
});

t.test("a development chain's words for a block that it does not have are understood too", async (t) => {
  const head = {
    isEligible: () => true,
    announced: () => ({ number: 10n, hash: `0x${"00".repeat(32)}` }),
  };
  const second = await startAnvilProcess({ chainId: 8845, genesisTimestampSeconds: 1_700_000_000 });
  t.teardown(() => second.kill());
  for (let block = 0; block < 10; block += 1) await ask(second.url, "evm_mine");
  const { result } = startPool(t, [anvil.url, second.url], { head });
  for (let round = 0; round < 8; round += 1) {
    t.match(await result("eth_getBalance", [alice.address, "0x9"]), /^0x/);
    t.match(await result("eth_getBlockByNumber", ["0x9", false]), { number: "0x9" });
    t.equal(await result("eth_call", [{ to: alice.address }, "0x9"]), "0x");
  }
});
