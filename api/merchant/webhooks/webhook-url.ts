import { z } from "zod";

export const urlCharsMax = 500;

const wellKnownPorts = new Set(["", "80", "443"]);
const ownPortMin = 1024;

/** Why nothing is sent to a URL, whatever its host is; undefined where it can be tried. The host is judged when it is connected to. */
export function urlProblem(text: string, { httpsOnly }: { httpsOnly: boolean }): string | undefined {
  if (text.length > urlCharsMax) return `At most ${urlCharsMax} characters were expected`;
  if (!URL.canParse(text) || /[\p{Cc}\p{Cs}\s\\]/u.test(text))
    return "A URL was expected: https://shop.example/hook";
  const { protocol, username, password, port, hash, href } = new URL(text);
  if (protocol !== "https:" && (httpsOnly || protocol !== "http:")) {
    return httpsOnly ? "A URL with https was expected" : "A URL with https or http was expected";
  }
  if (username !== "" || password !== "") return "A URL without a user and a password was expected";
  if (hash !== "") return "A URL without a fragment (#) was expected";
  if (href.length > urlCharsMax) return `At most ${urlCharsMax} characters were expected`;
  return wellKnownPorts.has(port) || Number(port) >= ownPortMin
    ? undefined
    : `The ports 80, 443 and those from ${ownPortMin} were expected`;
}

/** As a body has it; what the profile decides is judged by `urlProblem`. */
export const webhookUrl = z
  .string("A URL was expected: https://shop.example/hook")
  .max(urlCharsMax, `At most ${urlCharsMax} characters were expected`)
  .meta({
    description: "Where events are sent to: https, no user and password, port 80, 443 or from 1024",
    examples: ["https://shop.example/hook"],
  });
