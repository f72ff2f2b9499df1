import t from "tap";
import { assertOnlyGoodCallArrives, assertRawRefused, post, startRig } from "../helpers/bad-input.ts";
import { rawRequest } from "../helpers/raw-http.ts";

/** A text as the bytes of UTF-8, one a character, which is how bodies are written here. */
const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const call = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}';
/** A call with these bytes as its only parameter. */
const withParam = (bytes: string) => `{"jsonrpc":"2.0","id":7,"method":"web3_sha3","params":[${bytes}]}`;

/** Bodies by what the client is told about them. */
const noJson: [says: RegExp, bodies: Record<string, string>][] = [
  [/body is empty/, { "nothing at all": "", "white space only": " \r\n\t " }],
  [
    /body ends .*at byte \d+/,
    {
      "a text that ends early": '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"',
      "a string that ends early": '{"jsonrpc":"2.0","id":7,"method":"eth_chainId',
      "a batch that ends early": '[{"jsonrpc":"2.0","id":7,"method":"eth_chainId"},',
    },
  ],
  [
    /after the end .*at byte 47/,
    {
      "something after the end": `${call}x`,
      "a bracket after the end": `${call}]`,
      "two texts, one after the other": call + call,
      "a zero byte after the end": `${call}\0`,
      "a comma after the end": `${call},`,
    },
  ],
  [
    /unexpected character at byte \d+/,
    {
      words: "eth_chainId",
      "a form": "method=eth_chainId&id=1",
      "a comment": '{"jsonrpc":"2.0","id":7,/* now */"method":"eth_chainId"}',
      "a comma before the end": '{"jsonrpc":"2.0","id":7,"method":"eth_chainId",}',
      "a comma before the end of a batch": `[${call},]`,
      "no comma between two members": '{"jsonrpc":"2.0" "id":7,"method":"eth_chainId"}',
      "single quotes": "{'jsonrpc':'2.0','id':7,'method':'eth_chainId'}",
      "names without quotes": '{jsonrpc:"2.0",id:7,method:"eth_chainId"}',
      "a member without a value": '{"jsonrpc":"2.0","id":,"method":"eth_chainId"}',
      NaN: withParam("NaN"),
      Infinity: withParam("-Infinity"),
      "a number that begins with 0": withParam("01"),
      "a number that begins with +": withParam("+1"),
      "a number that begins with a point": withParam(".5"),
      "a number that ends with a point": withParam("1."),
      "a number without its exponent": withParam("1e"),
      "a hexadecimal number": withParam("0x10"),
      "a word cut short": withParam("tru"),
      "a word in capitals": withParam("TRUE"),
      "a bracket that closes another": withParam("[1}"),
      "UTF-16": Buffer.from(withParam("1"), "utf16le").toString("latin1"),
    },
  ],
  [
    /control character/,
    { "a line break in a string": withParam('"a\nb"'), "a zero byte": withParam('"a\0b"') },
  ],
  [
    /backslash/,
    {
      "an escape that JSON does not have": withParam('"\\x61"'),
      "one of three digits": withParam('"\\u061"'),
    },
  ],
  [
    /half of a surrogate pair/,
    {
      "half a surrogate pair": withParam('"\\ud83d"'),
      "the second half alone": withParam('"\\ude00"'),
      "both halves in the wrong order": withParam('"\\ude00\\ud83d"'),
      "half a surrogate pair in a name": withParam('{"\\ud83d":1}'),
      "half a surrogate pair in the method": '{"jsonrpc":"2.0","id":7,"method":"eth_\\ud83d"}',
      "half a surrogate pair in the id": '{"jsonrpc":"2.0","id":"\\ud83d","method":"eth_chainId"}',
    },
  ],
  [/byte-order mark/, { "a byte-order mark": utf8(`\ufeff${withParam("1")}`) }],
  [
    /not valid UTF-8/,
    {
      "a byte that UTF-8 never has": withParam('"\xff"'),
      "a continuation byte alone": withParam('"\x80"'),
      "a sequence that ends early": withParam('"\xe2\x82"'),
      "an overlong sequence": withParam('"\xc0\xaf"'),
      "a surrogate in UTF-8": withParam('"\xed\xa0\x80"'),
      "a sequence above U+10FFFF": withParam('"\xf4\x90\x80\x80"'),
      "one in a member that nobody reads": '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","x":"\xff"}',
      "one in a member's name": '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","\xff":1}',
      "one in the id": '{"jsonrpc":"2.0","id":"\xff","method":"eth_chainId"}',
      "one in the id, and another fault": '{"jsonrpc":"2.0","id":"\xff","method":1}',
      "one in the id of a batch's item": '[{"jsonrpc":"2.0","id":"\xff","method":1}]',
    },
  ],
  [/./, { "a no-break space as white space": utf8(`\u00a0${withParam("1")}`) }],
];

t.test("a body that is not valid JSON: 400, -32700, id null, nothing forwarded", async (t) => {
  const rig = await startRig(t);
  for (const [says, bodies] of noJson) {
    for (const [what, body] of Object.entries(bodies)) {
      t.test(what, async (t) => {
        const outcome = await rawRequest(rig.gateway.port, post(body));
        assertRawRefused(t, outcome, rig, { status: 400, rpcCode: -32700, code: "invalid_request", says });
      });
    }
  }
  t.test("and the next good call passes", (t) => assertOnlyGoodCallArrives(t, rig));
});
