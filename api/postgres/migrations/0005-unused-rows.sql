-- Orders of keys that nobody has paid, by when they ran out: they are removed in that order (api/merchant/unused-rows.ts). Without it each
-- removal reads all orders, and where somebody made millions of them it would not end in time, nor ever again.
create index orders_unpaid_by_end on svc.orders (valid_until) where paid_at is null and kind = 'api_key';
-- Wallets that left nothing behind are looked for among the oldest.
create index wallets_by_creation on svc.wallets (created_at);
