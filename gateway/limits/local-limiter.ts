import { LRUCache } from "lru-cache";

/** While Redis does not answer, a process gives each key this part of its limit: a tenth. */
const shareDivisor = 10;
/** Teams with a cap whose windows are counted at once. */
const teamsMax = 10_000;

/** A fixed window that this process alone counts. It begins with its first point. Monotonic milliseconds. */
export type LocalWindow = { endsMs: number; used: number };

export function createLocalWindow(): LocalWindow {
  return { endsMs: 0, used: 0 };
}

export type LocalCharge = {
  /** The key's own window, kept by the caller with what else it knows of the key. */
  window: LocalWindow;
  limit: number;
  team: string;
  /** 0 where the team has no cap. */
  teamCap: number;
  costs: readonly number[];
  /** What was decided before; the rest is added. */
  admitted: boolean[];
  nowMs: number;
};

export type LocalLimiter = {
  charge(request: LocalCharge): { remaining: number; resetMs: number; retryAfterMs: number };
};

/**
 * The limits while Redis does not answer: a tenth of each key's limit and of its team's cap, rounded down but at
 * least one point, for each process and window. A window goes on when Redis comes back and is lost again, so that an
 * unsteady Redis does not add up to more than a tenth.
 */
export function createLocalLimiter({ windowMs }: { windowMs: number }): LocalLimiter {
  const teams = new LRUCache<string, LocalWindow>({ max: teamsMax });

  return {
    charge({ window, limit, team, teamCap, costs, admitted, nowMs }) {
      const key = { window, share: shareOf(limit) };
      const cap = teamCap === 0 ? undefined : { window: windowOf(team), share: shareOf(teamCap) };
      let retryAtMs = nowMs;
      for (let index = admitted.length; index < costs.length; index += 1) {
        const cost = costs[index] ?? 0;
        const keyFits = cost <= left(key, nowMs);
        const capFits = cap === undefined || cost <= left(cap, nowMs);
        if (keyFits && capFits) {
          use(key.window, cost, nowMs);
          if (cap !== undefined) use(cap.window, cost, nowMs);
        }
        if (!keyFits) retryAtMs = Math.max(retryAtMs, endOf(window, nowMs));
        if (!capFits) retryAtMs = Math.max(retryAtMs, endOf(cap.window, nowMs));
        admitted.push(keyFits && capFits);
      }
      const binding = cap !== undefined && left(cap, nowMs) < left(key, nowMs) ? cap : key;
      const retryAfterMs = retryAtMs - nowMs;
      const resetMs = retryAfterMs > 0 ? retryAfterMs : endOf(binding.window, nowMs) - nowMs;
      return { remaining: left(binding, nowMs), resetMs, retryAfterMs };
    },
  };

  function windowOf(team: string): LocalWindow {
    let window = teams.get(team);
    if (window === undefined) {
      window = createLocalWindow();
      teams.set(team, window);
    }
    return window;
  }

  function use(window: LocalWindow, cost: number, nowMs: number): void {
    if (nowMs >= window.endsMs) {
      window.used = 0;
      window.endsMs = nowMs + windowMs;
    }
    window.used += cost;
  }

  /** For a window that is not running: one length from now. */
  function endOf(window: LocalWindow, nowMs: number): number {
    return nowMs < window.endsMs ? window.endsMs : nowMs + windowMs;
  }
}

function shareOf(limit: number): number {
  return Math.max(1, Math.floor(limit / shareDivisor));
}

function left({ window, share }: { window: LocalWindow; share: number }, nowMs: number): number {
  return Math.max(0, share - (nowMs < window.endsMs ? window.used : 0));
}
