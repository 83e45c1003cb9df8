-- Times are microseconds since 1970. Text that comes from a server is of type
-- bytea, because it can contain bytes that PostgreSQL does not permit in text.

create table version (
	schema integer not null, -- version of these tables
	layout integer not null  -- version of the rules for paths of the tree
);

-- One row with the state of the newest run. A transaction that reads the row
-- holds a shared lock of the crawl, and a transaction that changes the row holds
-- an exclusive lock.
create table book (
	run  bigint  not null default 0,
	live boolean not null default false -- true while the run is active
);
insert into book default values;

-- The totals are the sums over all rows. A worker changes only the row of its
-- slot, so that workers do not wait for each other.
create table tally (
	slot     integer primary key,
	pending  bigint not null default 0, -- URLs of all runs
	done     bigint not null default 0, -- URLs of the newest run, as for the next columns
	kept     bigint not null default 0,
	gone     bigint not null default 0,
	dead     bigint not null default 0,
	excluded bigint not null default 0,
	before   bigint not null default 0, -- URLs that an earlier run left done
	urls     bigint not null default 0,
	captures bigint not null default 0,
	bytes    bigint not null default 0
);

-- One row with digests.
create table seal (
	rows     bytea, -- of all rows of the other tables; null after a change
	manifest bytea
);
insert into seal default values;

create table run (
	id      bigint primary key,
	note    bytea,
	started bigint not null,
	ended   bigint
);

create table host (
	id    bigint generated always as identity primary key,
	name  text collate "C" not null unique,
	next  bigint not null default 0, -- earliest time of the next request
	due   bigint,                    -- time at which Claim considers the host; null if no URL is pending
	epoch bigint not null default 0, -- number of the most recent lease
	until bigint,                    -- end of the lease; null without a lease
	owner text                       -- worker of the most recent lease
);
create index host_due on host (due) where due is not null;
create index host_leased on host (id) where until is not null;

create sequence url_id;
create table url (
	id       bigint   primary key,
	key      bytea    not null unique,
	state    smallint not null,
	run      bigint   not null, -- most recent run that added or completed the URL
	host     bigint   not null,
	prio     integer  not null,
	depth    integer  not null,
	attempts integer  not null default 0, -- failed attempts in that run
	wait     bigint,            -- earliest time of the visit; null if ready
	via      bytea,
	last     bigint,            -- id of the most recent capture
	url      bytea    not null,
	meta     bytea,
	note     bytea
);
create index url_ready on url (host, prio, id) where state = 0 and wait is null;
create index url_pending on url (host) where state = 0;
create index url_waiting on url (host, wait) where wait is not null;
create index url_postponed on url (id) where wait = 9223372036854775807;

create sequence capture_id;
create table capture (
	id        bigint  primary key,
	item      bigint  not null, -- id in table url
	key       bytea,            -- of the URL of the record, if it differs from the URL of the item
	url       bytea,            -- URL of the record, in the same case
	run       bigint  not null,
	time      bigint,
	kind      text    not null,
	media     bytea   not null,
	code      integer not null,
	size      bigint  not null,
	digest    bytea,
	validator bytea   not null,
	modified  bigint,
	path      bytea   not null,
	file      bigint,
	at        bigint  not null,
	bytes     bigint  not null,
	record    bytea   not null,
	proof     bytea   not null,
	checksum  bigint           -- CRC-32 of the gzip member; null if unknown
);
create index capture_item on capture (item) where key is null;
create index capture_key on capture (key) where key is not null;
create index capture_digest on capture (digest) where file is not null;
create index capture_file on capture (file) where file is not null;

create table file (
	id     bigint generated always as identity primary key,
	name   text collate "C" not null unique,
	ends   bigint,
	worker text not null default '' -- worker that writes the file
);

create table worker (
	name        text   primary key,
	folder      text   not null,           -- identifier of its folder
	incarnation bigint not null default 1, -- raised when the worker is abandoned
	joined      bigint not null,
	beat        bigint not null            -- time of the most recent claim
);

create table name (
	fold bytea primary key,
	key  bytea -- null for a folder
);
