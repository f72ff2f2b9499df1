import type { NodeProgress } from "../chain/wait-for-nodes.ts";

export type ProgressView = {
  show(progress: readonly NodeProgress[]): void;
  /** Makes the next output begin on a new line. */
  end(): void;
};

/** On a terminal: one line for each validator, redrawn in place. */
export function createLiveProgress({
  write,
  now,
}: {
  write: (text: string) => void;
  now: () => number;
}): ProgressView {
  let linesShown = 0;
  let begunAt: number | undefined;
  return {
    show(progress) {
      begunAt ??= now();
      const seconds = Math.round((now() - begunAt) / 1000);
      const lines = [`Waiting for a block, ${seconds} s …`, ...progress.map((node) => `  ${lineOf(node)}`)];
      // Up to where the last drawing began, and clear what is below (ECMA-48: CPL, ED).
      const upwards = linesShown === 0 ? "" : `\x1b[${linesShown}F\x1b[J`;
      write(`${upwards}${lines.join("\n")}\n`);
      linesShown = lines.length;
    },
    end() {
      linesShown = 0;
      begunAt = undefined;
    },
  };
}

/** Anywhere else: a line whenever the state of a validator changes. */
export function createPlainProgress({ write }: { write: (text: string) => void }): ProgressView {
  const said = new Map<string, string>();
  return {
    show(progress) {
      for (const node of progress) {
        const line = lineOf({ name: node.name, state: node.state });
        if (said.get(node.name) !== line) write(`${line}\n`);
        said.set(node.name, line);
      }
    },
    end: () => said.clear(),
  };
}

const words = {
  starting: "is starting",
  answers: "answers",
  ended: "has ended",
  stopped: "is stopped",
} as const;

function lineOf({ name, state, height, peers }: NodeProgress): string {
  const more = height === undefined ? "" : `, block ${height}, ${peers ?? 0} peers`;
  return `${name} ${words[state]}${more}`;
}
