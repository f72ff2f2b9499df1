import t from "tap";
import { createValidatorHeads } from "../../../api/read/validator-heads.ts";
import { ChainUnavailableError } from "../../../lib/chain/rpc-client.ts";

const genesis = `0x${"01".repeat(32)}`;

t.test(
  "validators are asked once for everybody who looks, and a silent one holds nobody up twice",
  async (t) => {
    const clock = { ms: 0 };
    let asked = 0;
    let answer = (): Promise<[{ result: unknown }, { result: unknown }, { result: unknown }]> =>
      Promise.resolve([{ result: "0x10" }, { result: "?" }, { result: { hash: genesis } }]);
    const source = {
      askAll() {
        asked += 1;
        return answer();
      },
    };
    const heads = createValidatorHeads({ sources: [source], monotonicMs: () => clock.ms });
    const up = [{ state: "up", height: 16, peers: null }];
    t.strictSame(await Promise.all([heads(genesis), heads(genesis)]), [up, up]);
    t.strictSame(await heads(genesis), up);
    t.equal(asked, 1);
    clock.ms = 5000;
    let giveUp = (): void => {};
    answer = () =>
      new Promise((_resolve, reject) => {
        giveUp = () => reject(new ChainUnavailableError("it does not answer"));
      });
    t.strictSame(await heads(genesis), up, "what was known is told while it is asked for anew");
    t.strictSame(await heads(genesis), up);
    t.equal(asked, 2);
    clock.ms = 20_000;
    const late = heads(genesis);
    giveUp();
    t.strictSame(await late, [{ state: "silent" }], "until it is too old");
    t.equal(asked, 2);
  },
);
