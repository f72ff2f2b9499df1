-- What a merchant looks for an invoice by: the words of its reference, customer and note. Signs part words, so that
-- INV/2026/7 is found by 2026 and by 7: named here, since what is a letter depends on the database's locale.
alter table svc.invoices add column words tsvector not null generated always as (to_tsvector('simple',
  regexp_replace(coalesce(reference, '') || ' ' || customer_label || ' ' || note,
    '[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e\u00a0-\u00bf\u2000-\u206f]+', ' ', 'g')
)) stored;
create index invoices_by_words on svc.invoices using gin (words);

-- SHA-256 of what a page's form carries: sent twice, it makes one invoice.
alter table svc.invoices add column form_hash svc.hash32, add unique (wallet, form_hash);
