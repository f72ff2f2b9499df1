import { z } from "zod";

export const urlCharsMax = 500;

const wellKnownPorts = new Set(["", "80", "443"]);
const ownPortMin = 1024;

/** What is wrong with a URL: `form` where it is none. */
export type UrlFault = "long" | "form" | "https" | "scheme" | "password" | "fragment" | "port";

/** Why nothing is sent to a URL, whatever its host is; undefined where it can be tried. The host is judged when it is connected to. */
export function urlFault(text: string, { httpsOnly }: { httpsOnly: boolean }): UrlFault | undefined {
  if (text.length > urlCharsMax) return "long";
  if (!URL.canParse(text) || /[\p{Cc}\p{Cs}\s\\]/u.test(text)) return "form";
  const { protocol, username, password, port, hash, href } = new URL(text);
  if (protocol !== "https:" && (httpsOnly || protocol !== "http:")) return httpsOnly ? "https" : "scheme";
  if (username !== "" || password !== "") return "password";
  if (hash !== "") return "fragment";
  if (href.length > urlCharsMax) return "long";
  return wellKnownPorts.has(port) || Number(port) >= ownPortMin ? undefined : "port";
}

const problems: Readonly<Record<UrlFault, string>> = {
  long: `At most ${urlCharsMax} characters were expected`,
  form: "A URL was expected: https://shop.example/hook",
  https: "A URL with https was expected",
  scheme: "A URL with https or http was expected",
  password: "A URL without a user and a password was expected",
  fragment: "A URL without a fragment (#) was expected",
  port: `The ports 80, 443 and those from ${ownPortMin} were expected`,
};

/** The same in words for programs. */
export function urlProblem(text: string, profile: { httpsOnly: boolean }): string | undefined {
  const fault = urlFault(text, profile);
  return fault === undefined ? undefined : problems[fault];
}

/** As a body has it; what the profile decides is judged by `urlProblem`. */
export const webhookUrl = z
  .string("A URL was expected: https://shop.example/hook")
  .max(urlCharsMax, `At most ${urlCharsMax} characters were expected`)
  .meta({
    description: "Where events are sent to: https, no user and password, port 80, 443 or from 1024",
    examples: ["https://shop.example/hook"],
  });
