import { getAddress } from "ethers";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { type Row, readHex, readInteger, readNullable, readText } from "../../lib/postgres/row.ts";
import type { TransferRecord } from "../records/transaction.ts";
import { bytesOf, tokenKindOf } from "./columns.ts";

export type TokenRow = TransferRecord["token"];

const columns = "k.address, k.kind, k.name, k.symbol, k.decimals";
/** So many of the newest transfers say which tokens move. */
const transfersLooked = 1000;

/** Tokens in the order of their addresses, behind `after`. */
export async function listTokens(
  db: Queryable,
  { after = `0x${"0".repeat(40)}`, limit }: { after?: string | undefined; limit: number },
): Promise<{ data: TokenRow[]; next: string | null }> {
  const { rows } = await db.query({
    name: "tokens",
    text: `select ${columns} from chain.token k where k.address > $1 order by k.address limit $2`,
    values: [bytesOf(after), limit + 1],
  });
  const data = rows.slice(0, limit).map(tokenOf);
  return { data, next: rows.length > limit ? (data.at(-1)?.address ?? null) : null };
}

/** Tokens that moved lately, the last one first, with the block in which each moved last. */
export async function listMovedTokens(
  db: Queryable,
  { limit }: { limit: number },
): Promise<(TokenRow & { lastBlock: number })[]> {
  const { rows } = await db.query({
    name: "moved-tokens",
    text: `select ${columns}, m.last from (select token, max(block) as last from
        (select token, block from chain.transfer order by block desc, log_index desc, item desc limit $1) newest
        group by token) m join chain.token k on k.address = m.token order by m.last desc, k.address limit $2`,
    values: [transfersLooked, limit],
  });
  return rows.map((row) => ({ ...tokenOf(row), lastBlock: readInteger(row, "last") }));
}

/** What the index knows of a token; undefined for a contract that has moved none. */
export async function readToken(db: Queryable, address: string): Promise<TokenRow | undefined> {
  const { rows } = await db.query({
    name: "token",
    text: `select ${columns} from chain.token k where k.address = $1`,
    values: [bytesOf(address)],
  });
  const [row] = rows;
  return row === undefined ? undefined : tokenOf(row);
}

function tokenOf(row: Row): TokenRow {
  return {
    address: getAddress(readHex(row, "address")),
    kind: tokenKindOf(readText(row, "kind")),
    name: readNullable(readText, row, "name"),
    symbol: readNullable(readText, row, "symbol"),
    decimals: readNullable(readInteger, row, "decimals"),
  };
}
