/** The part of a tap test that helpers need, so that a program can stand in for a test. */
export type Teardown = { teardown: (stop: () => unknown) => unknown };
