-- What is due is looked for by the endpoint: one that hangs and has many thousands waiting was passed over row by row, for everybody.
create index webhook_deliveries_due_by_endpoint on svc.webhook_deliveries (endpoint_id, next_at) where state = 'waiting';
drop index svc.webhook_deliveries_due;
