-- A merchant looks for what was given up among 100 000 deliveries: by the endpoint and the state, in the order of the log. The
-- event's number is kept beside them, since an index has columns of one table.
alter table svc.webhook_deliveries add column sequence bigint;
update svc.webhook_deliveries d set sequence = v.sequence from svc.webhook_events v where v.id = d.event_id;
alter table svc.webhook_deliveries alter column sequence set not null;
create index webhook_deliveries_by_state on svc.webhook_deliveries (endpoint_id, state, sequence);
