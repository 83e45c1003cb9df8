-- The process that runs a worker, and its most recent report.
alter table worker
	add column session   text   not null default '', -- random identifier of the newest process
	add column place     text   not null default '', -- machine and directory of the process
	add column url_rate  float8 not null default 0,  -- URLs per second
	add column byte_rate float8 not null default 0;  -- bytes per second
