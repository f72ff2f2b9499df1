/** What a helper needs of a tap test, so that a program can stand in for one. */
export type Teardown = { teardown: (stop: () => unknown) => unknown };
