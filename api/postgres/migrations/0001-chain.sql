-- What the chain cannot answer fast: lists, counts, sums. A cache of the chain, which the follower writes range by range
-- and empties when the chain is another one. Runs on PostgreSQL 15 and newer.
--
-- Amounts are uint256, hence numeric(78). Times are the block's own, in seconds. Rows refer to blocks by number without
-- foreign keys: a range is written in one transaction, and a check a row would cost as much as the row.
create schema chain;

create table chain.follower (
  one boolean primary key default true check (one),
  epoch int not null,                       -- how many chains there have been
  genesis_hash bytea not null check (octet_length(genesis_hash) = 32),
  next bigint not null check (next >= 0),   -- the first block that is not here
  last_hash bytea check (octet_length(last_hash) = 32),   -- of next - 1; null before block 0
  check ((next = 0) = (last_hash is null))
);

create table chain.block (
  number bigint primary key check (number >= 0),
  hash bytea not null unique check (octet_length(hash) = 32),
  time bigint not null,
  proposer bytea not null check (octet_length(proposer) = 20),
  round int,                                -- null on a dev chain
  missed bytea[] not null default '{}',     -- whose turns passed before this round
  gas_used bigint not null,
  gas_limit bigint not null,
  tx_count int not null,
  transfer_count int not null,
  size int not null
);

create table chain.seal (
  block bigint not null,
  validator bytea not null check (octet_length(validator) = 20),
  primary key (block, validator)
);

-- No index by hash: a single transaction is asked of the chain.
create table chain.tx (
  block bigint not null,
  index int not null,
  hash bytea not null check (octet_length(hash) = 32),
  sender bytea not null check (octet_length(sender) = 20),
  recipient bytea check (octet_length(recipient) = 20),   -- null where it creates a contract
  created bytea check (octet_length(created) = 20),       -- the contract
  value numeric(78) not null check (value >= 0),
  nonce bigint not null,
  fee numeric(78) not null check (fee >= 0),
  gas_used bigint not null,
  ok boolean not null,
  type smallint not null,
  selector bytea check (octet_length(selector) = 4),      -- null without at least four bytes of input
  primary key (block, index)
);
create index tx_by_sender on chain.tx (sender, block desc, index desc);
create index tx_by_recipient on chain.tx (recipient, block desc, index desc) where recipient is not null;
create index tx_by_created on chain.tx (created) where created is not null;

create table chain.transfer (
  block bigint not null,
  log_index int not null,
  item smallint not null default 0,             -- ERC-1155's TransferBatch is one log of several transfers
  tx_index int not null,
  token bytea not null check (octet_length(token) = 20),
  sender bytea not null check (octet_length(sender) = 20),
  recipient bytea not null check (octet_length(recipient) = 20),
  value numeric(78) check (value >= 0),         -- null for ERC-721
  token_id numeric(78) check (token_id >= 0),   -- null for ERC-20
  primary key (block, log_index, item)
);
create index transfer_by_sender on chain.transfer (sender, block desc, log_index desc, item desc);
create index transfer_by_recipient on chain.transfer (recipient, block desc, log_index desc, item desc);
create index transfer_by_token on chain.transfer (token, block desc, log_index desc, item desc);

create table chain.token (
  address bytea primary key check (octet_length(address) = 20),
  kind text not null check (kind in ('erc20', 'erc721', 'erc1155')),
  name text,
  symbol text,
  decimals smallint check (decimals between 0 and 255)
);

create table chain.burn (
  block bigint not null,
  log_index int not null,
  tx_index int not null,
  source text not null,
  order_id bytea not null check (octet_length(order_id) = 32),
  payer bytea not null check (octet_length(payer) = 20),
  amount numeric(78) not null check (amount >= 0),
  burned numeric(78) not null check (burned >= 0),
  treasury numeric(78) not null check (treasury >= 0),
  primary key (block, log_index)
);
create index burn_by_source on chain.burn (source, block desc, log_index desc);

-- Sums of chain.burn a source and day (UTC), written in the transaction that writes it.
create table chain.burn_total (
  source text not null,
  day date not null,
  payments bigint not null check (payments >= 0),
  amount numeric(78) not null check (amount >= 0),
  burned numeric(78) not null check (burned >= 0),
  treasury numeric(78) not null check (treasury >= 0),
  primary key (source, day)
);
