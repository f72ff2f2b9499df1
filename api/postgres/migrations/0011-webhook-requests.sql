-- What each try was sent with, so that a merchant sees in the log what its program got; null for tries before this.
alter table svc.webhook_attempts
  add column url text check (char_length(url) <= 500),
  add column headers json check (octet_length(headers::text) <= 4096);
