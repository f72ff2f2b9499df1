import { ParamType } from "ethers/abi";
import t from "tap";
import { createCallContract } from "../../../api/contract-calls/call-contract.ts";
import { readArgument } from "../../../api/contract-calls/read-argument.ts";
import { readSignature } from "../../../api/contract-calls/read-signature.ts";
import { ChainUnavailableError } from "../../../lib/chain/rpc-client.ts";

const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const read = (type: string, text: string) => readArgument(ParamType.from(type), text);

t.test("an argument is read by its type, or told what was expected", async (t) => {
  const good: readonly (readonly [string, string, unknown])[] = [
    ["address", ` ${alice.toLowerCase()} `, alice],
    ["uint8", "255", 255n],
    ["uint256", `0x${"f".repeat(64)}`, 2n ** 256n - 1n],
    ["int8", "-128", -128n],
    ["bool", "TRUE", true],
    ["string", " <b> ", " <b> "],
    ["string", "", ""],
    ["bytes", "0x", "0x"],
    ["bytes4", "0x01ffc9a7", "0x01ffc9a7"],
    [
      "uint256[]",
      '[1, "115792089237316195423570985008687907853269984665640564039457584007913129639935"]',
      [1n, 2n ** 256n - 1n],
    ],
    [
      "uint256[2][]",
      "[[1,2],[3,4]]",
      [
        [1n, 2n],
        [3n, 4n],
      ],
    ],
    ["tuple(address who, bool ok)", `["${alice}", true]`, [alice, true]],
    ["tuple(address who, bool ok)", `{"ok": false, "who": "${alice}"}`, [alice, false]],
  ];
  for (const [type, text, value] of good) t.strictSame(read(type, text), { value }, `${type}: ${text}`);
  const bad: readonly (readonly [string, string, string])[] = [
    ["address", "", "address"],
    ["address", "alice.eth", "address"],
    ["address", "XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS", "address"],
    ["address", alice.replace("f39F", "F39f"), "checksum"],
    ["uint8", "256", "integer"],
    ["uint256", "-1", "integer"],
    ["uint256", "1e3", "integer"],
    ["uint256", "", "integer"],
    ["uint256", "9".repeat(2000), "integer"],
    ["int8", "-129", "integer"],
    ["bool", "yes", "bool"],
    ["bool", "constructor", "bool"],
    ["bytes", "0x1", "bytes"],
    ["bytes", "", "bytes"],
    ["bytes4", "0x01", "bytes"],
    ["uint256[]", "1", "list"],
    ["uint256[]", "{}", "list"],
    ["uint256[]", "[9007199254740993]", "unsafe"],
    ["uint256[]", "[null]", "integer"],
    ["uint256[2]", "[1]", "items"],
    ["tuple(address who)", '{"__proto__": 1}', "list"],
    ["uint256[]", "[".repeat(1500), "list"],
  ];
  for (const [type, text, expected] of bad)
    t.match(read(type, text), { expected }, `${type}: ${text.slice(0, 60)}`);
});

t.test("a signature is read as people write it; what would be too large is none", async (t) => {
  for (const [text, signature] of [
    ["balanceOf(address) returns (uint256)", "balanceOf(address)"],
    [" function balanceOf(address owner) external view returns (uint); ", "balanceOf(address)"],
    ["f()", "f()"],
    ["f((uint a, bytes b)[] x) returns (string)", "f((uint256,bytes)[])"],
  ] as const) {
    t.equal(readSignature(text)?.format(), signature, text);
  }
  for (const text of [
    "",
    "balanceOf",
    "event Paid(uint256)",
    "constructor()",
    "f(uint257)",
    "f(<script>)",
    "f() returns (uint256[1000000000])",
    "f() returns (uint8[16][16][16])",
    "f() returns (uint8[0][])",
    "f() returns (uint8[][][][][])",
    `f(${"(".repeat(140)}${")".repeat(140)})`,
    `f(${Array.from({ length: 17 }, () => "bool").join(",")})`,
    `f${"a".repeat(400)}()`,
  ]) {
    t.equal(readSignature(text), undefined, text.slice(0, 60));
  }
});

t.test(
  "so many calls are under way at once, and one that the chain leaves unanswered is told of",
  async (t) => {
    const waiting: (() => void)[] = [];
    const call = createCallContract({
      reader: { call: () => new Promise((resolve) => waiting.push(() => resolve({ returned: "0x01" }))) },
    });
    const one = { to: alice, data: "0x", block: 1 };
    const running = Array.from({ length: 8 }, () => call(one));
    t.strictSame(await call(one), { unanswered: "busy" });
    for (const answer of waiting) answer();
    t.strictSame(
      await Promise.all(running),
      Array.from({ length: 8 }, () => ({ returned: "0x01" })),
    );
    const away = createCallContract({
      reader: {
        async call() {
          throw new ChainUnavailableError("it does not answer");
        },
      },
    });
    for (let asked = 0; asked < 9; asked += 1) t.strictSame(await away(one), { unanswered: "slow" });
  },
);
