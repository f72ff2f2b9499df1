import type { Page } from "playwright-core";
import type { Site } from "./sites/explorer-sites.ts";

/** One page in one state, ready to be looked at. */
export type Scene = {
  name: string;
  title: string;
  open: () => Promise<Site>;
  path: string;
  /** Whether its clock stands at `shownAtMs`. */
  hasFixedClock?: boolean;
  /** Brings the page into its state, in a browser that runs scripts. */
  act?: (page: Page) => Promise<unknown>;
  /** Runs before the page's own scripts. */
  script?: string;
  /** Of somebody who has signed in. */
  cookie?: () => Promise<{ name: string; value: string }>;
  differsWithoutScripts?: boolean;
};
