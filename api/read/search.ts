import { getAddress } from "ethers/address";
import type { SearchRecord } from "../records/chain.ts";
import type { ReadModel } from "./read-model.ts";

type Found = SearchRecord["data"][number];

const resultsMax = 10;

/** What a text can mean: by its form a number, a hash or an address, else the beginning of a name. */
export async function search(read: ReadModel, q: string): Promise<SearchRecord> {
  const text = q.trim();
  return { q, data: (await find(read, text)).slice(0, resultsMax) };
}

async function find(read: ReadModel, text: string): Promise<Found[]> {
  if (/^(?:0|[1-9][0-9]{0,14})$/.test(text)) {
    const { number } = await read.latest();
    return Number(text) <= number ? [blockResult(Number(text))] : [];
  }
  const hex = /^(?:0x)?([0-9a-f]+)$/i.exec(text)?.[1]?.toLowerCase() ?? "";
  if (hex.length === 64) return findHash(read, `0x${hex}`);
  if (hex.length === 40) return [await accountResult(read, getAddress(`0x${hex}`))];
  return text === "" ? [] : findName(read, text.toLowerCase());
}

async function findHash(read: ReadModel, hash: string): Promise<Found[]> {
  const [logs, block] = await Promise.all([read.transactionLogs(hash), read.blockByHash(hash)]);
  if (logs !== undefined) {
    return [
      { kind: "transaction", id: hash, title: `Transaction ${hash}`, url: `/api/v1/transactions/${hash}` },
    ];
  }
  return block === undefined ? [] : [blockResult(block.number)];
}

async function accountResult(read: ReadModel, address: string): Promise<Found> {
  const { validators } = await read.consensus();
  const url = `/api/v1/accounts/${address}`;
  const title = read.nameOf(address) ?? address;
  if (validators.includes(address)) {
    return { kind: "validator", id: address, title, url: `/api/v1/validators/${address}` };
  }
  const { isContract } = await read.account(address);
  return { kind: isContract ? "contract" : "account", id: address, title, url };
}

async function findName(read: ReadModel, prefix: string): Promise<Found[]> {
  const { validators } = await read.consensus();
  const others = Object.entries(read.names).filter(([address]) => !validators.includes(address));
  const named = [
    ...read.contracts.all.map(({ name, address }) => ({ kind: "contract" as const, name, address })),
    ...validators.map((address) => ({ kind: "validator" as const, name: read.nameOf(address), address })),
    ...others.map(([address, name]) => ({ kind: "account" as const, name, address })),
  ];
  return named.flatMap(({ kind, name, address }) =>
    name?.toLowerCase().startsWith(prefix)
      ? [
          {
            kind,
            id: getAddress(address),
            title: name,
            url: `/api/v1/${kind === "validator" ? "validators" : "accounts"}/${getAddress(address)}`,
          },
        ]
      : [],
  );
}

function blockResult(number: number): Found {
  return { kind: "block", id: String(number), title: `Block ${number}`, url: `/api/v1/blocks/${number}` };
}
