-- Where wallets want to be told of payments, what is told, and what became of each telling.
--
-- Events are written in the transaction that books the payment. No column of events or sequences refers to svc.wallets: such a
-- reference waits for whoever holds the wallet's row and may itself wait for the order that is being booked.

-- The number of a wallet's last event: 1, 2, 3 … without a gap, in the order in which they were committed.
create table svc.event_sequences (
  wallet svc.address primary key,
  last bigint not null check (last > 0)
);

create table svc.webhook_events (
  id uuid primary key,                                    -- `webhook-id`: a receiver knows by it what it has already
  wallet svc.address not null,
  sequence bigint not null check (sequence > 0),
  type text not null check (type in ('payment.completed', 'invoice.paid', 'webhook.test')),
  body text not null check (octet_length(body) <= 65536), -- the very bytes that are signed and sent, each time
  order_id uuid references svc.orders,
  created_at timestamptz not null default now(),
  unique (wallet, sequence),
  unique (order_id, type),
  check ((order_id is null) = (type = 'webhook.test'))
);
create index webhook_events_by_age on svc.webhook_events (created_at);
create index webhook_events_by_wallet on svc.webhook_events (wallet, created_at);

create table svc.webhook_endpoints (
  id uuid primary key,
  wallet svc.address not null unique references svc.wallets,    -- one URL a wallet
  order_id uuid not null unique references svc.orders,    -- what was paid for the first URL
  url text not null check (char_length(url) <= 500),
  secret_sealed bytea not null check (octet_length(secret_sealed) <= 512),
  -- While the secret is changed. A day after `next_since` it is the only one.
  next_secret_sealed bytea check (octet_length(next_secret_sealed) <= 512),
  next_since timestamptz,
  disabled_at timestamptz,
  disabled_why text check (disabled_why in ('gone', 'failing')),
  -- Since the last success.
  failing_since timestamptz,
  dead_events int not null default 0 check (dead_events >= 0),
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  check ((disabled_at is null) = (disabled_why is null)),
  check ((next_secret_sealed is null) = (next_since is null))
);

create table svc.webhook_deliveries (
  event_id uuid not null references svc.webhook_events on delete cascade,
  endpoint_id uuid not null references svc.webhook_endpoints,
  primary key (event_id, endpoint_id),
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'dead', 'dropped')),
  attempts int not null default 0 check (attempts >= 0),  -- the last one's number; only grows
  tries int not null default 0 check (tries >= 0),        -- of the schedule, which a replay begins anew
  next_at timestamptz not null default now(),             -- while it is tried: when its lease ends
  leased_until timestamptz,                               -- somebody tries it now
  last_status int,
  last_error text,
  delivered_at timestamptz
);
create index webhook_deliveries_due on svc.webhook_deliveries (next_at) where state = 'waiting';
create index webhook_deliveries_leased on svc.webhook_deliveries (endpoint_id) where leased_until is not null;

create table svc.webhook_attempts (
  event_id uuid not null,
  endpoint_id uuid not null,
  number int not null check (number > 0),
  primary key (event_id, endpoint_id, number),
  foreign key (event_id, endpoint_id) references svc.webhook_deliveries on delete cascade,
  at timestamptz not null default now(),
  took_ms int not null check (took_ms >= 0),
  status int,
  error text check (char_length(error) <= 200),
  answer_start text not null default '' check (octet_length(answer_start) <= 1024)
);

-- Orders of a webhook's fee that nobody has paid are removed as those of keys are.
drop index svc.orders_unpaid_by_end;
create index orders_unpaid_by_end on svc.orders (valid_until) where paid_at is null and kind <> 'invoice';
