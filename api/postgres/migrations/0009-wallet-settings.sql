-- What a merchant tells its customers about itself. Checkout and receipt show the name and the contact.
alter table svc.wallets
  add column display_name text not null default '' check (char_length(display_name) <= 60),
  add column contact text not null default '' check (char_length(contact) <= 120),
  -- In which the merchant's customers are spoken to where their browser does not say; null: as it says.
  add column language text check (language in ('en', 'id'));
