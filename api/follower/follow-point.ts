/** Between two steps, where a crash must not do harm. */
export type FollowPoint =
  | "read"
  | "before write"
  | "in transaction"
  | "before commit"
  | "written"
  | "emptied";
