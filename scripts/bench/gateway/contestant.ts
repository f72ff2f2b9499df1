import type { BenchKey } from "./bench-keys.ts";

/** A proxy between clients and validators that the bench measures. */
export type Contestant = {
  name: ContestantName;
  /** A description for the report: what it is and how it is set up. */
  title: string;
  /** A program that has to be installed separately; undefined if there is none. */
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
  /** An empty Redis of its own. */
  folder: string;
  /** The free port on 127.0.0.1 on which it has to listen. */
  port: number;
  /** Ports of the validators on 127.0.0.1. */
  validatorPorts: readonly number[];
  keys: readonly BenchKey[];
  redisUrl: string;
  /** Absolute paths of programs, by name. */
  programs: Readonly<Record<string, string>>;
};

export type Command = {
  program: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
};
