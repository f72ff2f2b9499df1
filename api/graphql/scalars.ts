import { GraphQLError, GraphQLScalarType, Kind } from "graphql";

/** A scalar that is a text of one form, in answers and in arguments. */
function textScalar({ name, description, form }: { name: string; description: string; form: RegExp }) {
  const read = (value: unknown): string => {
    if (typeof value === "string" && form.test(value)) return value;
    throw new GraphQLError(`${name} was expected: ${description}`);
  };
  return new GraphQLScalarType<string, string>({
    name,
    description,
    serialize: (value) => String(value),
    parseValue: read,
    parseLiteral: (node) => read(node.kind === Kind.STRING ? node.value : undefined),
  });
}

const wholeNumber = (value: unknown): number => {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new GraphQLError("A whole number was expected");
};

export const scalars = {
  Hash: textScalar({
    name: "Hash",
    description: "0x and 64 hexadecimal digits",
    form: /^0x[0-9a-fA-F]{64}$/,
  }),
  Address: textScalar({
    name: "Address",
    description: "0x and 40 hexadecimal digits, with the checksum of EIP-55 in answers",
    form: /^0x[0-9a-fA-F]{40}$/,
  }),
  Bytes: textScalar({
    name: "Bytes",
    description: "0x and pairs of hexadecimal digits",
    form: /^0x(?:[0-9a-fA-F]{2})*$/,
  }),
  Amount: textScalar({
    name: "Amount",
    description: "A whole number as decimal text: wei, gas, or a token's smallest unit",
    form: /^(?:0|[1-9][0-9]{0,77})$/,
  }),
  DateTime: textScalar({
    name: "DateTime",
    description: "ISO 8601, UTC",
    form: /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/,
  }),
  Date: textScalar({ name: "Date", description: "A day in UTC: YYYY-MM-DD", form: /^\d{4}-\d{2}-\d{2}$/ }),
  UnixTime: new GraphQLScalarType<number, number>({
    name: "UnixTime",
    description: "Seconds since 1970-01-01 00:00 UTC. GraphQL's Int ends in 2038",
    serialize: wholeNumber,
    parseValue: wholeNumber,
  }),
  JSON: new GraphQLScalarType({ name: "JSON", description: "Any JSON value: a decoded argument" }),
} as const;
