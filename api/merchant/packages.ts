import type { z } from "zod";

/** The packages by name, in the order in which they are offered, and for how long a key of each is good. */
export const packages = {
  monthly: { title: "Monthly", days: 30 },
  quarterly: { title: "3 Months", days: 90 },
  yearly: { title: "Yearly", days: 365 },
} as const;

export type PackageName = keyof typeof packages;

export const packageNames = ["monthly", "quarterly", "yearly"] as const satisfies readonly PackageName[];

/** What each costs, in wei. */
export type PackagePrices = Readonly<Record<PackageName, bigint>>;

/** A table with a value for each package, as a configuration has it. */
export function byPackage<Schema extends z.ZodType>(schemaOf: (name: PackageName) => Schema) {
  return { monthly: schemaOf("monthly"), quarterly: schemaOf("quarterly"), yearly: schemaOf("yearly") };
}
