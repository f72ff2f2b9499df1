export type GroupCounts = ReturnType<typeof createGroupCounts>;

/** How many calls of each key are under way. */
export function createGroupCounts({ groupMax }: { groupMax: number }) {
  // Numbers only: no call hangs on it, and a key that asks nothing is not in it.
  const counts = new Map<string, number>();
  return {
    /** Whether one more may begin; then it counts until `leave`. */
    enter(group: string): boolean {
      const count = counts.get(group) ?? 0;
      if (count >= groupMax) return false;
      counts.set(group, count + 1);
      return true;
    },
    leave(group: string): void {
      const count = counts.get(group) ?? 0;
      if (count <= 1) counts.delete(group);
      else counts.set(group, count - 1);
    },
  };
}
