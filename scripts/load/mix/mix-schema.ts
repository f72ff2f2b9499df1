import { isAddress } from "ethers/address";
import { isHexString } from "ethers/utils";
import { z } from "zod";
import { didYouMean, nearest } from "../../../lib/cli/nearest.ts";
import { ratePerSecondMax } from "../plan/plan.ts";
import { durationText, stagesSchema } from "../plan/stages-schema.ts";
import type { ThresholdRule } from "../thresholds/rule.ts";
import { thresholdsSchema } from "../thresholds/thresholds-schema.ts";
import { readKinds, resultKinds } from "./expectation.ts";
import { findPlaceholders } from "./template.ts";

/** What `$name` can mean without a step that has saved it. */
export const placeholders = {
  account: "an address out of `accounts`",
  sender: "an address out of `senders`",
  block: "the number of a recent block",
  blockHash: "the hash of a recent block",
  transactionHash: "the hash of a transaction in a recent block",
} as const;
export type PlaceholderName = keyof typeof placeholders;

const itemsMax = 200;
const stepsMax = 50;
const batchItemsMax = 1_000;
const accountsMax = 1_000_000;
const sendersMax = 1_000;
const recentBlocksMax = 1_000;

const method = z
  .string()
  .regex(/^[a-z0-9]+_[A-Za-z0-9_]+$/, "a JSON-RPC method such as eth_getBalance was expected");
const word = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9]*$/, "a name of letters and digits was expected")
  .refine((name) => !isPlaceholder(name), "this name is a placeholder's already");
const weiText = z
  .union([z.string(), z.number().int().nonnegative().transform(String)])
  .pipe(z.string().regex(/^\d{1,78}$/, "a whole number of wei was expected"));
const tokens = z
  .union([z.string(), z.number().nonnegative().transform(String)])
  .pipe(z.string().regex(/^\d{1,30}(?:\.\d{1,18})?$/, 'tokens such as "0.01" were expected'));
const address = z.string().refine((text) => isAddress(text), "an address of 20 bytes was expected");

const kinds = z.string().transform((text, context) => {
  const read = readKinds(text);
  if (read !== undefined) return read;
  const guess = nearest(text, resultKinds);
  context.addIssue(
    `one of ${resultKinds.join(", ")}, or several with | between, was expected.${didYouMean(guess)}`,
  );
  return z.NEVER;
});

const callFields = {
  call: method.optional(),
  params: z.array(z.unknown()).optional(),
  expect: kinds.optional(),
  equals: z.string().optional(),
};
const batchedCall = z.strictObject({ ...callFields, call: method });

const send = z.strictObject({
  to: z
    .string()
    .refine((text) => text.includes("$") || isAddress(text), "an address or a placeholder was expected")
    .default("$account"),
  valueWei: weiText.default("1"),
  data: z
    .string()
    .refine((text) => text.includes("$") || isHexString(text), "hex digits in pairs were expected (0x…)")
    .default("0x"),
  gas: z.number().int().min(21_000).max(1_000_000_000).default(21_000),
  /** `hash`: the answer is enough. `receipt`: asked for until it is there. */
  wait: z.enum(["hash", "receipt"]).default("hash"),
});

const stepFields = {
  ...callFields,
  batch: z.array(batchedCall).min(1).max(batchItemsMax).optional(),
  send: send.optional(),
};
const step = z
  .strictObject({ ...stepFields, save: word.optional() })
  .superRefine((fields, context) => demandOne(["call", "batch", "send"], fields, context));

const item = z
  .strictObject({
    ...stepFields,
    weight: z.number().positive().max(1_000_000).default(1),
    name: z.string().min(1).max(60).optional(),
    /** Counted in a row of its own, which thresholds can name. */
    tag: z
      .string()
      .regex(/^[A-Za-z][\w-]{0,39}$/, "a word of letters, digits, - and _ was expected")
      .optional(),
    sequence: z.array(step).min(1).max(stepsMax).optional(),
  })
  .superRefine((fields, context) => {
    demandOne(["call", "batch", "sequence", "send"], fields, context);
    if (fields.name === undefined && (fields.sequence !== undefined || fields.batch !== undefined)) {
      context.addIssue({ code: "custom", message: "a batch or sequence needs a name", path: ["name"] });
    }
  });

const senders = z
  .strictObject({
    count: z.number().int().min(1).max(sendersMax).default(16),
    /** Any text. It gives away the keys. Without it, `mnemonic` and `privateKeys`, each run makes new keys. */
    seed: z.string().min(1).optional(),
    mnemonic: z.string().optional(),
    privateKeys: z
      .array(
        z.string().refine((text) => isHexString(text, 32), "a private key of 32 bytes (0x…) was expected"),
      )
      .min(1)
      .max(sendersMax)
      .optional(),
    fundTokens: tokens.default("0.01"),
    gasPriceWei: weiText.default("0"),
    receiptTimeoutMs: z.number().int().min(1_000).max(600_000).default(30_000),
    receiptPollMs: z.number().int().min(50).max(60_000).default(500),
  })
  .superRefine(({ seed, mnemonic, privateKeys }, context) => {
    if ([seed, mnemonic, privateKeys].filter((source) => source !== undefined).length > 1) {
      context.addIssue("only one of seed, mnemonic and privateKeys can stand here");
    }
  });

/**
 * The load file: which JSON-RPC calls are made, how often against each other, what their answers have to be; and, where
 * the command line does not say it, how the load goes over time and what has to hold.
 */
export const mixSchema = z
  .strictObject({
    accounts: z
      .strictObject({
        count: z.number().int().min(1).max(accountsMax).default(10_000),
        seed: z.string().min(1).default("tollgate"),
        list: z.array(address).min(1).max(accountsMax).optional(),
      })
      .default({ count: 10_000, seed: "tollgate" }),
    recentBlocks: z.number().int().min(1).max(recentBlocksMax).default(64),
    refreshMs: z.number().int().min(100).max(3_600_000).default(2_000),
    senders: senders.optional(),
    stages: stagesSchema.optional(),
    /** Of clients: between two scripts. */
    think: durationText.optional(),
    /** Of clients: scripts that all of them begin in a second, at most. */
    maxRate: z.number().positive().max(ratePerSecondMax).optional(),
    thresholds: thresholdsSchema.optional(),
    items: z.array(item).min(1).max(itemsMax),
  })
  .superRefine((mix, context) => {
    checkSelectors(mix, context);
    for (const [index, fields] of mix.items.entries()) {
      checkPlaceholders(fields, ["items", index], new Set(), mix.senders !== undefined, context);
    }
  });

type Labelled = {
  items: readonly z.output<typeof item>[];
  thresholds?: readonly ThresholdRule[] | undefined;
};

/** A threshold of a method or tag that no item has would be missed after a whole run: it is refused before. */
function checkSelectors({ items, thresholds }: Labelled, context: Context): void {
  const known = {
    method: new Set(items.flatMap(labelsOf)),
    tag: new Set(items.flatMap(({ tag }) => tag ?? [])),
  };
  for (const { selector } of thresholds ?? []) {
    if (selector === undefined || known[selector.by].has(selector.value)) continue;
    const names = [...known[selector.by]];
    const has = names.length === 0 ? "none has one" : `there are ${names.join(", ")}`;
    context.addIssue({
      code: "custom",
      message: `no item has the ${selector.by} "${selector.value}"; ${has}`,
      path: ["thresholds"],
    });
  }
}

/** The rows of the report that an item makes. */
function labelsOf(fields: z.output<typeof item>): string[] {
  const name = fields.name ?? fields.call ?? "send";
  const ofStep = ({ call, batch, send: sending }: z.output<typeof step>, of: string) => {
    if (batch !== undefined) return [`batch: ${of}`];
    if (sending === undefined) return [call ?? ""];
    return ["eth_sendRawTransaction", ...(sending.wait === "receipt" ? ["eth_getTransactionReceipt"] : [])];
  };
  if (fields.sequence === undefined) return ofStep(fields, name);
  return fields.sequence.flatMap((each, index) => ofStep(each, `${name}, step ${index + 1}`));
}

export type Mix = z.output<typeof mixSchema>;
export type MixItem = Mix["items"][number];
export type MixStep = z.output<typeof step>;
export type SendFields = z.output<typeof send>;
export type SenderSettings = z.output<typeof senders>;

type Context = z.RefinementCtx;

export function isPlaceholder(name: string): name is PlaceholderName {
  return Object.hasOwn(placeholders, name);
}

function demandOne(names: readonly string[], fields: object, context: Context): void {
  const given = names.filter((name) => Reflect.get(fields, name) !== undefined);
  if (given.length === 1) {
    if (given[0] === "call") return;
    const stray = ["params", "expect", "equals"].find((name) => Reflect.get(fields, name) !== undefined);
    if (stray === undefined) return;
    context.addIssue({ code: "custom", message: "only a call can have this", path: [stray] });
    return;
  }
  const wanted = `exactly one of ${names.join(", ")} was expected`;
  context.addIssue(given.length === 0 ? wanted : `${wanted}, not ${given.join(" and ")}`);
}

/** Every placeholder has to be one of the table's or saved by an earlier step of the same sequence. */
function checkPlaceholders(
  fields: MixItem | MixStep,
  path: readonly (string | number)[],
  saved: Set<string>,
  hasSenders: boolean,
  context: Context,
): void {
  const issue = (message: string, at: readonly (string | number)[]) =>
    context.addIssue({ code: "custom", message, path: [...path, ...at] });
  if (fields.send !== undefined && !hasSenders) {
    issue("a send needs `senders` at the top of the mix, for example: senders: { count: 16 }", ["send"]);
  }
  if ("sequence" in fields && fields.sequence !== undefined) {
    for (const [index, inner] of fields.sequence.entries()) {
      checkPlaceholders(inner, [...path, "sequence", index], saved, hasSenders, context);
      if (inner.save !== undefined) saved.add(inner.save);
    }
    return;
  }
  const { params, batch, send: sending } = fields;
  for (const { placeholder, path: at } of findPlaceholders({ params, batch, send: sending })) {
    const { name } = placeholder;
    if (saved.has(name)) continue;
    const names = [...Object.keys(placeholders), ...saved];
    if (!isPlaceholder(name)) {
      issue(
        `$${name} is not known here.${didYouMean(nearest(name, names), "$")} There are $${names.join(", $")}`,
        at,
      );
    } else if (placeholder.path.length > 0) {
      issue(`$${name} has nothing inside it: .${placeholder.path.join(".")} cannot stand behind it`, at);
    } else if (name === "sender" && !hasSenders) {
      issue("$sender needs `senders` at the top of the mix", at);
    }
  }
}
