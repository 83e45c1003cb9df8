-- Settings of hosts.
alter table host
	add column held     bigint,                    -- column next without the pause of a paused host; null if not paused
	add column delay    bigint  not null default 0, -- microseconds between two requests that a person has set; negative for none
	add column crawl    bigint  not null default 0, -- microseconds between two requests that robots.txt demands
	add column excluded boolean not null default false;

-- Objects of a host that count for a limit. Only the worker with the lease of the
-- host changes its row, so that adding URLs to the host never waits for it.
create table host_count (
	host    bigint primary key,
	objects bigint not null
);

-- Numbers of the newest run. A worker changes only its own rows.
create table counter (
	worker text   not null,
	name   text   not null, -- "files", "bytes", or "error" and the class of an error
	n      bigint not null,
	primary key (worker, name)
);
