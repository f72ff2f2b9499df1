import type { KeptConfig } from "./kept-config.ts";

/** Ours that `upgrade` changes, in this order: whoever is asked comes before who asks. */
export const serviceNames = ["gateway", "network-exporter", "faucet", "api", "backup"] as const;

/** What runs to its end with the image of another one: the api's key is made for the api, and a backup is read by who wrote it. */
export const followers: Readonly<Record<string, (typeof serviceNames)[number]>> = {
  "api-key": "api",
  restore: "backup",
};

/** Our own processes as containers of docker/compose.yaml. Expected failures are values. */
export type Services = {
  /** Those that run, in the order in which they are changed. */
  running(): Promise<readonly string[]>;
  /** What an image is; with `fetch` it is pulled where this machine has not got it. */
  look(
    image: string,
    options: { fetch: boolean },
  ): Promise<{ to: string; version: string } | { failed: string }>;
  /** What a running one tells of itself on its ops port; undefined where it does not. */
  tell(service: string): Promise<Told | undefined>;
  /** Makes its container anew where its image is another one, and waits until it is healthy. @returns why it is not. */
  up(service: string, signal: AbortSignal): Promise<string | undefined>;
  /** Whether its container is of this image as it is now. */
  runs(service: string, image: string): Promise<boolean>;
  /** Keeps a copy of config/ where all that run take it as it is. */
  keepConfig(): Promise<void>;
  kept: KeptConfig;
  /** Changes with each start; undefined while it does not run. */
  identityOf(service: string): Promise<string | undefined>;
};

export type Told = {
  version: string;
  ready: boolean;
  /** Why it is not whole: empty where it is. */
  reasons: readonly string[];
  /** Requests that it has answered since its start, and those of them with 5xx. */
  requests: number;
  failures: number;
};
