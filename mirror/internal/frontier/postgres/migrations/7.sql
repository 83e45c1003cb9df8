-- Version 7 adds receipts, which tell whether a transaction was committed.

create table receipt (
	session text   not null, -- identifier of the process
	lane    bigint not null, -- transactions of one lane follow each other
	number  bigint not null, -- most recent committed transaction of the lane
	at      bigint not null,
	primary key (session, lane)
);
