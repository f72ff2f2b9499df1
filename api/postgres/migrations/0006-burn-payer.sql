-- What was collected from a deposit box was paid by whoever transferred to it: nobody in particular.
alter table chain.burn alter column payer drop not null;
