-- Failed transactions of an account: few of many, and the index of all of them had to be read to its end to find them.
create index tx_failed_by_sender on chain.tx (sender, block desc, index desc) where not ok;
create index tx_failed_by_recipient on chain.tx (recipient, block desc, index desc)
  where not ok and recipient is not null;
