import type { BenchKey } from "./bench-keys.ts";

/** A program that stands between clients and validators, and is measured. */
export type Contestant = {
  name: ContestantName;
  /** For people: what it is and how it is set up. */
  title: string;
  /** The program that has to be installed beside the project; undefined if there is none. */
  program?: { name: string; debianPackage: string; versionFlag: string };
  /** Whether it keeps a limit for each key. */
  keepsLimits: boolean;
  usesRedis: boolean;
  /** Writes its files into `folder` and returns how to start it. */
  prepare(setup: Setup): Command;
};

export const contestantNames = ["nginx", "haproxy", "http-proxy", "node-undici", "ours"] as const;
export type ContestantName = (typeof contestantNames)[number];

export type Setup = {
  /** Of its own, and empty. */
  folder: string;
  /** A free one on 127.0.0.1, where it has to listen. */
  port: number;
  /** Ports of the validators on 127.0.0.1. */
  validatorPorts: readonly number[];
  keys: readonly BenchKey[];
  redisUrl: string;
  /** Whole paths of programs by name. */
  programs: Readonly<Record<string, string>>;
};

export type Command = {
  program: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
};
