-- The rate as the merchant was told it, exactly. From wei an IDR it could only be found again roughly.
alter table svc.invoices add column idr_per_token numeric(24, 12) check (idr_per_token > 0);
update svc.invoices set idr_per_token = round(1000000000000000000 / rate_wei_per_idr, 12);
alter table svc.invoices alter column idr_per_token set not null, drop column rate_wei_per_idr;

-- Open invoices of a wallet are counted before each new one.
create index invoices_open_by_wallet on svc.invoices (wallet, expires_at) where state = 'open';

-- When a box was last emptied, or somebody set out to: of several processes one does so at a time.
alter table svc.invoices add column collected_at timestamptz;
-- Boxes in which something lies.
create index invoices_uncollected on svc.invoices (watch_until) where booked < received;

-- What a key has asked for under an Idempotency-Key, and what it was answered. Kept for 24 hours.
create table svc.idempotency_keys (
  key_id uuid not null references svc.api_keys,           -- whose it is: two keys may use the same words
  key_hash svc.hash32 not null,                           -- SHA-256 of the Idempotency-Key
  request_hash svc.hash32 not null,                       -- of what was asked, as it was read
  answer_sealed bytea not null check (octet_length(answer_sealed) <= 65536),
  created_at timestamptz not null default now(),
  primary key (key_id, key_hash)
);
create index idempotency_keys_by_age on svc.idempotency_keys (created_at);
