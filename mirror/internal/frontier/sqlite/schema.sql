-- Times are microseconds since 1970.

-- One row with the totals, which nearly every transaction changes.
create table book (
	run      integer not null default 0, -- number of the most recent run
	live     integer not null default 0, -- 1 while the run is active
	pending  integer not null default 0, -- URLs of all runs
	done     integer not null default 0, -- URLs of the most recent run, as for the next columns
	kept     integer not null default 0,
	gone     integer not null default 0,
	dead     integer not null default 0,
	excluded integer not null default 0,
	before   integer not null default 0, -- URLs that an earlier run left done
	urls     integer not null default 0,
	captures integer not null default 0,
	bytes    integer not null default 0
);
insert into book default values;

-- One row with the version of the rules for paths of the tree. A database of
-- version 1 lacks the table and gets layout 1.
create table layout (version integer not null);
insert into layout values (3);

-- One row with digests. A database of version 2 lacks the table.
create table seal (
	rows     blob, -- of all rows of the other tables; null after a change
	manifest blob
);
insert into seal default values;

create table run (
	id      integer primary key,
	note    blob,
	started integer not null,
	ended   integer
);

create table host (
	id      integer primary key,
	name    text    not null unique,
	pending integer not null default 0, -- URLs
	next    integer not null default 0, -- earliest time of the next request
	due     integer not null default 0, -- time at which Claim considers the host, if URLs are pending
	epoch   integer not null default 0, -- number of the most recent lease
	until   integer,                    -- end of the lease; null without a lease
	owner   text                        -- worker of the most recent lease
);
create index host_due on host (due) where pending > 0;
create index host_leased on host (id) where until is not null;

-- Settings of hosts. A database of version 4 lacks the table.
create table control (
	host     integer primary key,        -- id in table host
	held     integer,                    -- column next without the pause of a paused host; null if not paused
	delay    integer not null default 0, -- microseconds between two requests that a person has set; negative for none
	crawl    integer not null default 0, -- microseconds between two requests that robots.txt demands
	excluded integer not null default 0,
	objects  integer not null default 0  -- objects of the host that count for a limit
);

-- Numbers of the most recent run. A database of version 4 lacks the table.
create table counter (
	name text    primary key, -- "files", "bytes", or "error" and the class of an error
	n    integer not null
) without rowid;

create table url (
	id       integer primary key,
	key      blob    not null unique,
	state    integer not null,
	run      integer not null, -- most recent run that added or completed the URL
	host     integer not null,
	prio     integer not null,
	depth    integer not null,
	attempts integer not null default 0, -- failed attempts in that run
	wait     integer,          -- earliest time of the visit; null if ready
	via      blob,
	last     integer,          -- id of the most recent capture
	url      text    not null,
	meta     blob,
	note     text
);
create index url_ready on url (host, prio, id) where state = 0 and wait is null;
create index url_waiting on url (host, wait) where wait is not null;

create table capture (
	id        integer primary key,
	item      integer not null, -- id in table url
	key       blob,             -- of the URL of the record, if it differs from the URL of the item
	url       text,             -- URL of the record, in the same case
	run       integer not null,
	time      integer,
	kind      text    not null,
	media     text    not null,
	code      integer not null,
	size      integer not null,
	digest    blob,
	sum       integer,          -- first 8 bytes of digest, if there is a record; indexed
	validator text    not null,
	modified  integer,
	path      text    not null,
	file      integer,
	at        integer not null,
	bytes     integer not null,
	record    text    not null,
	proof     text    not null,
	checksum  integer           -- CRC-32 of the record in the file. A database of version 3 lacks the column.
);
create index capture_item on capture (item) where key is null;
create index capture_key on capture (key) where key is not null;
create index capture_sum on capture (sum) where sum is not null;

create table file (
	id   integer primary key,
	name text    not null unique,
	ends integer
);

-- Lines of the log of visits that the log may lack. A database of version 5
-- lacks the table.
create table unlogged (
	id   integer primary key,
	line blob not null
);

create table name (
	fold text    primary key,
	key  blob -- null for a folder
) without rowid;
