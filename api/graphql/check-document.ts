import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import { LRUCache } from "lru-cache";
import { costLimits, costOf, findExcess } from "./limit-cost.ts";

/** A document that may be carried out, with its cost, or what is wrong with its text. */
export type Checked = { document: DocumentNode; cost: number } | { errors: readonly GraphQLError[] };

const documentsMax = 500;
const documentBytesMax = 32 * 1024 * 1024;
/** A parsed token with its node, measured at about 300 bytes. */
const bytesPerToken = 400;

/** Parses and validates documents, each text once: what was found is kept, the oldest for the newest. */
export function createDocumentCheck(schema: GraphQLSchema): (text: string) => Checked {
  const checked = new LRUCache<string, Checked>({
    max: documentsMax,
    maxSize: documentBytesMax,
    sizeCalculation: (_found, text) =>
      2 * text.length + bytesPerToken * Math.min(text.length + 1, costLimits.tokensMax),
  });

  function look(text: string): Checked {
    try {
      const document = parse(text, { maxTokens: costLimits.tokensMax });
      const excess = findExcess(schema, document);
      if (excess !== undefined) return { errors: [new GraphQLError(excess)] };
      const errors = validate(schema, document, specifiedRules);
      return errors.length > 0 ? { errors } : { document, cost: costOf(schema, document) };
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] };
      throw error;
    }
  }

  return (text) => {
    const known = checked.get(text);
    if (known !== undefined) return known;
    const found = look(text);
    checked.set(text, found);
    return found;
  };
}
