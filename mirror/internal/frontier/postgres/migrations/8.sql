-- Version 8 adds the lines of the logs of visits that a log may lack.

create table unlogged (
	id     bigint generated always as identity primary key,
	worker text   not null,
	line   bytea  not null
);
create index unlogged_worker on unlogged (worker, id);
