/** In the order of ASCII, so that texts of one length sort as their numbers do. */
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A number as so many characters: the lowest digits of it where it has more. */
export function base62(value: bigint, chars: number): string {
  let rest = value;
  let text = "";
  for (let index = 0; index < chars; index += 1) {
    text = alphabet.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** The digit of a number from 0 to 61. */
export function base62Digit(value: number): string {
  return alphabet.charAt(value);
}

/** The number that a text stands for; undefined where one of its characters is none of ours. */
export function readBase62(text: string): bigint | undefined {
  let value = 0n;
  for (const char of text) {
    const digit = alphabet.indexOf(char);
    if (digit === -1) return undefined;
    value = value * 62n + BigInt(digit);
  }
  return value;
}
