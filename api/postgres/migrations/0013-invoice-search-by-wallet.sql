-- A search reads its own wallet's invoices, newest first, and looks at their words: what others have costs it nothing, which an
-- index over all wallets' words cannot promise. So nothing reads that one.
drop index svc.invoices_by_words;
