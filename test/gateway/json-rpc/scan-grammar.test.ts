import t from "tap";
import { scanRequest } from "../../../gateway/json-rpc/scan.ts";

const limits = { depthMax: 64, batchItemsMax: 100 };

/** JSON values, as bytes one a character; each stands as a parameter, as an id's neighbour and alone. */
const values: Record<string, string> = {
  "an empty array": "[]",
  "an empty array with blanks": "[ \t\r\n ]",
  "an empty object": "{}",
  "an empty object with blanks": "{ \t\r\n }",
  "arrays in arrays": "[[],[[]],[[[]]]]",
  "members in members": '{"a":{"b":{"c":{}}},"d":[]}',
  "a nested name twice": '{"a":1,"a":2}',
  "a nested empty name": '{"":0}',
  "a nested name with escapes": '{"\\u0061\\n":0}',
  "blanks everywhere": ' [ 1 , { "a" : 2 , "b" : [ ] } , true ] ',
  true: "true",
  false: "false",
  null: "null",
  "words side by side": "[true,false,null]",
  zero: "0",
  "minus zero": "-0",
  "zero with a fraction": "0.0",
  "zero with an exponent": "0e1",
  "a negative number": "-123",
  "a fraction": "123.456",
  "a fraction that begins and ends with zeros": "10.0010",
  "an exponent": "1e5",
  "an exponent in capitals": "1E5",
  "a positive exponent": "1e+5",
  "a negative exponent": "1e-5",
  "an exponent with zeros": "1e005",
  "a fraction and an exponent": "-1.5E-07",
  "more than 2^53": "9007199254740993",
  "the greatest double": "1.7976931348623157e308",
  "a number that rounds down to the greatest double": "1.79769313486231580793e308",
  "less than the smallest double": "1e-400",
  "zero times ten to the 400": "0e400",
  "309 digits that a double holds": `1${"0".repeat(308)}`,
  "1 000 digits behind the point": `0.${"3".repeat(998)}`,
  "an empty string": '""',
  "strings of every length from 1 to 9":
    '["1","12","123","1234","12345","123456","1234567","12345678","123456789"]',
  "every short escape": '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
  "an escape at each of four places": '["\\n","a\\n","ab\\n","abc\\n","abcd\\n"]',
  "an escaped zero": '"\\u0000"',
  "hexadecimal digits in either case": '"\\uabcd\\uABCD\\uaBcD"',
  "an escaped surrogate pair": '"\\ud83d\\ude00"',
  "the first and the last pair": '"\\ud800\\udc00\\udbff\\udfff"',
  "escaped neighbours of the surrogates": '"\\ud7ff\\ue000"',
  "an escaped backslash before u": '"\\\\ud800"',
  "DEL and what RFC 8259 lets pass": '"\x7f\xe2\x80\xa8\xef\xbf\xbe"',
  "UTF-8 of two, three and four bytes": '"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"',
  "the last character of Unicode": '"\xf4\x8f\xbf\xbf"',
  "brackets and quotes in a string": '"[{\\"]},:"',
};

/** What is no JSON value, wherever it stands. */
const noValues: Record<string, string> = {
  nothing: "",
  "an array that is not closed": "[1",
  "an array that begins with a comma": "[,1]",
  "an array that ends with a comma": "[1,]",
  "an array with two commas": "[1,,2]",
  "an array without a comma": "[1 2]",
  "an array with a colon": "[1:2]",
  "an array closed as an object": "[1}",
  "an array closed twice": "[]]",
  "an object that is not closed": '{"a":1',
  "an object closed as an array": '{"a":1]',
  "an object that ends with a comma": '{"a":1,}',
  "an object that begins with a comma": '{,"a":1}',
  "an object without a colon": '{"a" 1}',
  "an object with two colons": '{"a"::1}',
  "an object without a value": '{"a":}',
  "an object without a name": "{:1}",
  "an object with a comma for a colon": '{"a",1}',
  "a name alone": '{"a"}',
  "a name without quotes": "{a:1}",
  "a name in single quotes": "{'a':1}",
  "a number as a name": "{1:1}",
  "null as a name": "{null:1}",
  "a word cut short": "tru",
  "a word cut short before a bracket": "[nul]",
  "a word too long": "nulll",
  "a word in capitals": "True",
  "a word in an array cut short": "[fals]",
  "an unknown word": "undefined",
  NaN: "NaN",
  Infinity: "Infinity",
  "minus infinity": "-Infinity",
  "a leading zero": "01",
  "a leading zero behind a minus": "-012",
  "a leading plus": "+1",
  "a minus alone": "-",
  "two minuses": "--1",
  "a minus with a blank": "- 1",
  "a leading point": ".5",
  "a point behind a minus": "-.5",
  "a trailing point": "1.",
  "a point before an exponent": "1.e5",
  "two points": "1.2.3",
  "an exponent without digits": "1e",
  "an exponent with a sign only": "1e+",
  "an exponent with two signs": "1e+-1",
  "an exponent with a fraction": "1e1.5",
  "two exponents": "1e1e1",
  "a hexadecimal number": "0x1F",
  "digits grouped by _": "1_000",
  "a number with a blank": "1 000",
  "a big integer": "1n",
  "full-width digits": "\xef\xbc\x91",
  "a string that is not closed": '"a',
  "a string that ends with a backslash": '"a\\',
  "a string with an escaped quote only": '"a\\"',
  "a string in single quotes": "'a'",
  "a string in back quotes": "`a`",
  "a quote alone": '"',
  "a line break in a string": '"a\nb"',
  "a tab in a string": '"\t"',
  "a zero byte in a string": '"\x00"',
  "the last control character in a string": '"abc\x1f"',
  "an unknown escape": '"\\a"',
  "an escaped single quote": '"\\\'"',
  "an escape in capitals": '"\\N"',
  "a hexadecimal escape": '"\\x41"',
  "a Unicode escape of no digits": '"\\u"',
  "a Unicode escape of three digits": '"\\u123"',
  "a Unicode escape with a letter beyond f": '"\\u123g"',
  "a Unicode escape with a sign": '"\\u+123"',
  "a Unicode escape in capitals": '"\\U0041"',
  "a Unicode escape in braces": '"\\u{41}"',
  "a line break behind a backslash": '"\\\n"',
  "a high surrogate alone": '"\\ud800"',
  "a high surrogate before a character": '"\\ud800x"',
  "a high surrogate before a short escape": '"\\ud800\\n"',
  "a high surrogate before another escape": '"\\ud800\\u0041"',
  "a high surrogate before a high one": '"\\ud800\\ud800"',
  "a high surrogate before half an escape": '"\\ud800\\udc0"',
  "a low surrogate alone": '"\\udc00"',
  "a pair in the wrong order": '"\\ude00\\ud83d"',
  "a pair, half of it in UTF-8": '"\\ud83d\xed\xb8\x80"',
  "half a surrogate pair in a name": '{"\\udfff":1}',
  "a byte that UTF-8 never has": '"\xff"',
  "a continuation byte alone": '"\x80"',
  "a sequence cut short": '"\xe2\x82"',
  "a sequence cut short by an escape": '"\xe2\\u0082\xac"',
  "an overlong sequence": '"\xc0\xaf"',
  "a surrogate in UTF-8": '"\xed\xa0\x80"',
  "a sequence above U+10FFFF": '"\xf4\x90\x80\x80"',
  "invalid UTF-8 in a name": '{"\xff":1}',
  "a comment": "1/**/",
  "a comment to the end of the line": "[1//\n]",
  "a comment behind #": "[1#\n]",
  "a form feed as a blank": "[\f1]",
  "a vertical tab as a blank": "[\v1]",
  "a no-break space as a blank": "[\xc2\xa01]",
  "a zero byte as a blank": "[\x001]",
  "a byte-order mark as a blank": "[\xef\xbb\xbf1]",
  "a character outside of a string": "[\xc3\xa9]",
};

/** Where a value can stand: what the scanner looks into, what it passes over, and what is no request at all. */
const places: Record<string, (value: string) => string> = {
  "as a parameter": (value) => `{"jsonrpc":"2.0","id":1,"method":"m","params":[${value},1]}`,
  "as the last parameter": (value) => `{"jsonrpc":"2.0","id":1,"method":"m","params":["a",${value}]}`,
  "as a named parameter": (value) => `{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":${value}}}`,
  "as the id": (value) => `{"jsonrpc":"2.0","id":${value},"method":"m"}`,
  "as a member of no meaning": (value) => `{"x":${value},"jsonrpc":"2.0","id":1,"method":"m"}`,
  "in a batch": (value) => `[{"jsonrpc":"2.0","id":1,"method":"m"},${value}]`,
  alone: (value) => value,
};

const scan = (text: string) => scanRequest(Buffer.from(text, "latin1"), limits);

for (const [place, bodyWith] of Object.entries(places)) {
  t.test(`what RFC 8259 calls a value is taken for one: ${place}`, async (t) => {
    for (const [what, value] of Object.entries(values)) {
      const scanned = scan(bodyWith(value));
      t.not(scanned.kind === "refused" && scanned.reason, "parse", what);
    }
  });

  t.test(`what it does not call a value is a parse error: ${place}`, async (t) => {
    for (const [what, text] of Object.entries(noValues)) {
      t.match(scan(bodyWith(text)), { kind: "refused", reason: "parse", idText: "null" }, what);
    }
  });
}

t.test("a parameter comes out byte for byte as it went in", async (t) => {
  for (const [what, value] of Object.entries(values)) {
    t.match(
      scan(`{"jsonrpc":"2.0","id":1,"method":"m","params":[${value}]}`),
      { call: { paramsText: `[${value}]` } },
      what,
    );
  }
});

t.test("a call cut anywhere is a parse error that says so, never a call", async (t) => {
  const body = '[{"jsonrpc":"2.0","id":"\\u0061\xc3\xa9","method":"m","params":[-1.5e+3,true,{"a":null}]}]';
  t.match(scan(body), { kind: "batch" });
  for (let length = 0; length < body.length; length += 1) {
    t.match(scan(body.slice(0, length)), { kind: "refused", reason: "parse" }, `after ${length} bytes`);
  }
  // The scanner's memory still holds the longer body: nothing of it may be read.
  t.match(scan(body.slice(0, -1)), {
    message: `Parse error: the body ends too early, at byte ${body.length - 1}`,
  });
});
