import { z } from "zod";
import { refusal } from "../../../lib/http-service/refusal.ts";
import { listBurnEvents } from "../../read/burns.ts";
import { search } from "../../read/search.ts";
import {
  burnEventRecord,
  burnsRecord,
  chainRecord,
  contractsRecord,
  searchRecord,
} from "../../records/chain.ts";
import { listOf } from "../../records/values.ts";
import { noParameters, pageQuery } from "../parameters.ts";
import { pageAnswer, route } from "../route.ts";

const searchLengthMax = 100;

export const chainRoutes = [
  route({
    path: "/api/v1/chain",
    operationId: "getChain",
    tag: "Chain",
    summary: "The chain and its newest block",
    params: noParameters,
    query: noParameters,
    response: chainRecord,
    answer: async ({ read }) => ({ record: await read.chain(), cache: "head" }),
  }),
  route({
    path: "/api/v1/network/contracts",
    operationId: "getNetworkContracts",
    tag: "Chain",
    summary: "Addresses of the network's contracts",
    params: noParameters,
    query: noParameters,
    response: contractsRecord,
    answer: async ({ read }) => ({ record: await read.networkContracts(), cache: "head" }),
  }),
  route({
    path: "/api/v1/network/contracts/{name}/abi.json",
    operationId: "getContractAbi",
    tag: "Chain",
    summary: "The ABI of one of the network's contracts",
    params: z.strictObject({
      name: z
        .string()
        .max(searchLengthMax)
        .meta({ examples: ["FeeCollector"] }),
    }),
    query: noParameters,
    response: z.array(z.looseObject({ type: z.string() })).meta({ id: "ContractAbi" }),
    problems: ["not_found"],
    answer({ params: { name }, read }) {
      const contract = read.contracts.all.find((known) => known.name === name);
      if (contract === undefined) return refusal("not_found", "There is no contract of this name");
      return { record: contract.abi, cache: "release" };
    },
  }),
  route({
    path: "/api/v1/fees/burns",
    operationId: "getBurns",
    tag: "Fees",
    summary: "Policy and sums of the platform fees that were burned",
    params: noParameters,
    query: noParameters,
    response: burnsRecord,
    answer: async ({ read }) => ({ record: await read.burns(), cache: "head" }),
  }),
  route({
    path: "/api/v1/fees/burns/events",
    operationId: "listBurnEvents",
    tag: "Fees",
    summary: "Payments that burned a part of their fee, newest first",
    params: noParameters,
    query: pageQuery,
    response: listOf("BurnEvents", burnEventRecord),
    answer: async ({ query, read }) => pageAnswer(await listBurnEvents(read.db, query)),
  }),
  route({
    path: "/api/v1/search",
    operationId: "search",
    tag: "Search",
    summary: "Blocks, transactions and accounts by number, hash or address; contracts and validators by name",
    params: noParameters,
    query: z.strictObject({
      q: z
        .string("What to search for was expected")
        .max(searchLengthMax, `At most ${searchLengthMax} characters were expected`)
        .meta({ description: "A number, a hash, an address, or the beginning of a name", examples: ["1"] }),
    }),
    response: searchRecord,
    answer: async ({ query: { q }, read }) => ({ record: await search(read, q), cache: "head" }),
  }),
];
