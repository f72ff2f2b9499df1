/** Where a process asks the chain, by the names of its configuration. */
export type UpstreamSettings = {
  readonly upstream: string;
  /** Empty: none. */
  readonly upstreamApiKey: string;
  readonly upstreamTimeoutMs: number;
};

/** The same for a client of JSON-RPC, which reads it for each call: what `settings` says by then. */
export function upstreamOf(
  settings: UpstreamSettings,
  {
    timeoutMs = () => settings.upstreamTimeoutMs,
    ...bounds
  }: { timeoutMs?: () => number; answerBytesMax?: number } = {},
) {
  return {
    ...bounds,
    get url() {
      return settings.upstream;
    },
    get headers(): Readonly<Record<string, string>> {
      return settings.upstreamApiKey === "" ? {} : { "X-API-Key": settings.upstreamApiKey };
    },
    get timeoutMs() {
      return timeoutMs();
    },
  };
}
