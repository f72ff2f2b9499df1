-- Transactions that created a contract, newest first: few of many.
create index tx_creations on chain.tx (block desc, index desc) where created is not null;
