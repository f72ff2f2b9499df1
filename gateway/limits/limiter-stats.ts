/** What a limiter did since its start. */
export type LimiterStats = {
  /** Scripts sent to Redis. */
  commands: { take: number; giveBack: number; probe: number };
  /**
   * Calls by what decided about them: points leased before, a script, a refusal that still holds, a tenth of the limit
   * (Redis away), too many waiting calls.
   */
  calls: { lease: number; redis: number; refusal: number; local: number; full: number };
  refused: number;
  points: { leased: number; givenBack: number };
};

export function createLimiterStats(): LimiterStats {
  return {
    commands: { take: 0, giveBack: 0, probe: 0 },
    calls: { lease: 0, redis: 0, refusal: 0, local: 0, full: 0 },
    refused: 0,
    points: { leased: 0, givenBack: 0 },
  };
}
