-- What merchants bought, sold and were paid. Unlike schema `chain` this is no copy of the chain: it is never emptied, and a
-- loss of it is answered by a backup.
--
-- Ids are UUIDs (version 7) that the api makes. Times are the database's clock, except where a block's time decides: those
-- columns say so. One wallet's limits are counted and used up under a lock of its row in svc.wallets.
create schema svc;

create domain svc.wei as numeric(38) check (value >= 0);
create domain svc.address as bytea check (octet_length(value) = 20);
create domain svc.hash32 as bytea check (octet_length(value) = 32);
-- Of a FeeCollector's order; the same seven as in lib/fee-collector.
create domain svc.fee_source as text
  check (value in ('svc_dev', 'payments', 'identity', 'ppob', 'works', 'bridge', 'tournaments'));

-- Each chain and FeeCollector that the ledger has followed. A row is never altered: records of an earlier chain are kept
-- under its number, and nothing that happens on a later one is booked to them.
create table svc.chain_epochs (
  epoch int primary key check (epoch > 0),
  genesis_hash svc.hash32 not null,
  fee_collector svc.address not null,
  first_block bigint not null check (first_block > 0),    -- before it there was no order of this epoch
  begun_at timestamptz not null default now()
);

-- How far the ledger has booked. Moved by compare-and-set in the transaction that books.
create table svc.chain_cursor (
  one boolean primary key default true check (one),
  epoch int not null references svc.chain_epochs,
  next_block bigint not null check (next_block > 0),      -- the first block that is not booked
  last_hash svc.hash32 not null,                          -- of the block before it: another one there is another chain
  last_block_at timestamptz not null,                     -- that block's own time
  boxes_block bigint not null check (boxes_block < next_block),   -- whose deposit boxes were looked at last
  boxes_at timestamptz not null,                          -- that block's own time
  moved_at timestamptz not null default now()
);

-- The epoch that a new order belongs to. Before the ledger has begun there is none, and so no order.
create function svc.current_epoch() returns int language sql stable as 'select epoch from svc.chain_cursor';

create table svc.wallets (
  address svc.address primary key,
  created_at timestamptz not null default now()
);

create table svc.orders (
  id uuid primary key,
  epoch int not null default svc.current_epoch() references svc.chain_epochs,
  id_on_chain svc.hash32 not null unique,                 -- the EIP-712 digest: other terms are another id
  kind text not null check (kind in ('api_key', 'webhook_url', 'invoice')),
  wallet svc.address not null references svc.wallets,     -- who ordered; of an invoice the merchant
  ref svc.hash32 not null unique,
  source svc.fee_source not null,
  payee svc.address,                                      -- null: all of the amount is the platform's fee
  amount svc.wei not null check (amount > 0 and amount < 79228162514264337593543950336),    -- the contract's 2^96 - 1
  fee svc.wei not null check (fee <= amount),
  valid_until timestamptz(0) not null,                    -- the contract compares the block's time with it
  signature bytea not null check (octet_length(signature) = 65),
  request jsonb not null default '{}' check (octet_length(request::text) <= 4096),          -- package, label, scopes
  created_at timestamptz not null default now(),
  -- Written by the ledger alone, when the amount is complete, and then never again.
  paid_at timestamptz,                                    -- the block's own time
  paid_block bigint,
  paid_tx svc.hash32,                                     -- null where the chain keeps no trace: transfers by contracts
  paid_by svc.address,                                    -- who called the FeeCollector; null for plain transfers
  -- Written by whoever hands out what was bought.
  used_at timestamptz,
  check ((kind = 'invoice') = (payee is not null)),
  check (payee is not null or fee = amount),
  check ((paid_at is null) = (paid_block is null)),
  check (paid_at is not null or (paid_tx is null and paid_by is null and used_at is null))
);
create index orders_by_wallet on svc.orders (wallet, created_at desc, id desc);
-- Open orders of a wallet are counted before each new one.
create index orders_unpaid on svc.orders (wallet, valid_until) where paid_at is null;

create table svc.api_keys (
  id uuid primary key,
  wallet svc.address not null references svc.wallets,
  order_id uuid not null unique references svc.orders,    -- one order, one key
  hash svc.hash32 not null unique,                        -- SHA-256 of the secret
  hint text not null check (char_length(hint) <= 40),     -- svc_live_…a1B2
  label text not null default '' check (char_length(label) <= 60),
  package text not null check (package in ('monthly', 'quarterly', 'yearly')),
  scopes text[] not null
    check (scopes <@ array['dashboard:read', 'invoices:read', 'invoices:write'] and cardinality(scopes) > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,                               -- to the minute
  -- The answer that issued it, encrypted, for who lost it on the way: 15 minutes, or until the key's first use.
  secret_sealed bytea check (octet_length(secret_sealed) <= 512),
  secret_sealed_until timestamptz,
  check (expires_at > created_at),
  check ((secret_sealed is null) = (secret_sealed_until is null))
);
create index api_keys_by_wallet on svc.api_keys (wallet, created_at desc, id desc);
create index api_keys_active on svc.api_keys (wallet, expires_at) where revoked_at is null;
create index api_keys_sealed on svc.api_keys (secret_sealed_until) where secret_sealed is not null;

create table svc.invoices (
  id uuid primary key,
  order_id uuid not null unique references svc.orders,
  wallet svc.address not null references svc.wallets,
  created_by_key uuid references svc.api_keys,
  pay_token text not null unique check (pay_token ~ '^[0-9A-Za-z]{22}$'),   -- 128 random bits: an id that can be counted is no secret
  customer_label text not null default '' check (char_length(customer_label) <= 120),
  note text not null default '' check (char_length(note) <= 500),
  reference text check (char_length(reference) between 1 and 80),
  amount_idr bigint not null check (amount_idr between 1000 and 1000000000),
  rate_wei_per_idr numeric(38, 12) not null check (rate_wei_per_idr > 0),
  rate_source text not null check (char_length(rate_source) <= 80),
  rate_at timestamptz not null,
  amount svc.wei not null check (amount > 0),
  box svc.address not null unique,                        -- where plain transfers go to
  redirect_url text check (char_length(redirect_url) <= 500),
  expires_at timestamptz(0) not null,                     -- compared with a block's time
  watch_until timestamptz(0) not null,                    -- likewise: after it the box is not looked at any more
  created_at timestamptz not null default now(),
  canceled_at timestamptz,
  -- Written by the ledger alone.
  received svc.wei not null default 0,
  received_in_time svc.wei not null default 0,
  booked svc.wei not null default 0,                      -- of what was received: what the FeeCollector has passed on
  state text not null default 'open'
    check (state in ('open', 'underpaid', 'paid', 'overpaid', 'expired', 'paid_late', 'canceled')),
  paid_at timestamptz,                                    -- the time of the block that made it complete
  unique (wallet, reference),
  check (received_in_time <= received),
  check (booked <= received),
  check (watch_until >= expires_at),
  check ((paid_at is not null) = (state in ('paid', 'overpaid', 'paid_late')))
);
create index invoices_by_wallet on svc.invoices (wallet, created_at desc, id desc);
create index invoices_watched on svc.invoices (watch_until, id);
create index invoices_open on svc.invoices (expires_at) where state = 'open';

-- What arrived. Only grows: a row is never changed and never deleted.
create table svc.payments (
  id bigint generated always as identity primary key,
  order_id uuid not null references svc.orders,
  way text not null check (way in ('contract', 'box')),
  amount svc.wei not null check (amount > 0),
  received_after svc.wei not null check (received_after >= amount),         -- all that had arrived for the order by then
  in_time boolean not null,
  block_number bigint not null check (block_number > 0),
  block_hash svc.hash32 not null,
  block_at timestamptz not null,                          -- the block's own time
  tx_hash svc.hash32,                                     -- of a plain transfer only where one was found
  log_index int check (log_index >= 0),
  payer svc.address,
  booked_at timestamptz not null default now(),
  unique (order_id, received_after),                      -- what arrived counts once, however often it is looked at
  unique (tx_hash, log_index),
  check ((way = 'contract') = (log_index is not null)),
  check (way = 'box' or (tx_hash is not null and payer is not null))
);

create function svc.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of svc.% are never changed or deleted', tg_table_name;
end
$$;
create trigger only_grows before update or delete on svc.payments
  for each row execute function svc.refuse_change();
create trigger only_grows before update or delete on svc.chain_epochs
  for each row execute function svc.refuse_change();

create table svc.sessions (
  token_hash svc.hash32 primary key,                      -- SHA-256 of the token
  id uuid not null unique,                                -- by which a list names it
  wallet svc.address not null references svc.wallets,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  user_agent text not null default '' check (char_length(user_agent) <= 200),
  check (expires_at > created_at)
);
create index sessions_by_wallet on svc.sessions (wallet, created_at desc, id desc);
create index sessions_by_expiry on svc.sessions (expires_at);

create table svc.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  wallet svc.address,
  actor text not null check (char_length(actor) <= 80),   -- wallet, ledger, operator
  action text not null check (char_length(action) <= 80),
  about jsonb not null default '{}' check (octet_length(about::text) <= 4096)
);
create index audit_log_by_wallet on svc.audit_log (wallet, at desc, id desc);
