import { z } from "zod";

/** An emoji that is joined of several: the one place where an invisible joiner shows as something. */
const joinedEmoji =
  /(?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})/gu;
/**
 * What a reader does not see, or what changes the order in which the rest is read: control and format characters (directions of text, marks
 * of width zero), halves and private characters, line breaks, and letters that are drawn as nothing (Hangul's fillers, the empty Braille
 * sign). With them a name could look like another one, or push what stands beside it away.
 */
const invisible =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u2800]|(?!\ufe0f)\p{Default_Ignorable_Code_Point}|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}])\ufe0f/u;
/** More marks over each other than any language writes would cover the lines above. */
const piledMarks = /\p{M}{4}/u;

/**
 * A line that a merchant's customers read: in Unicode's composed form (NFC), without spaces around it and with one in place of several.
 * Its length is counted in characters, as PostgreSQL and JSON Schema do.
 */
export function shownText({ charsMax }: { charsMax: number }) {
  const expected = `A line of at most ${charsMax} characters was expected, without control characters or invisible ones`;
  const isShown = (text: string) =>
    [...text].length <= charsMax &&
    !invisible.test(text.replaceAll(joinedEmoji, "")) &&
    !piledMarks.test(text);
  return z
    .string(expected)
    .transform((text) =>
      text
        .normalize("NFC")
        .replaceAll(/\p{Zs}+/gu, " ")
        .trim(),
    )
    .refine(isShown, expected);
}
