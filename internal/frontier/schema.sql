-- Times are microseconds since 1970.

-- One row: what nearly every transaction changes.
create table book (
	run      integer not null default 0, -- the newest
	live     integer not null default 0, -- whether it goes on
	pending  integer not null default 0, -- URLs of any run
	done     integer not null default 0, -- and these of the newest
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

-- One row, since version 2: the rules by which the tree was begun. A database of
-- version 1 has no such table, and layout 1.
create table layout (version integer not null);
insert into layout values (2);

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
	next    integer not null default 0, -- not to be asked before
	due     integer not null default 0, -- when Claim should look at it, if anything is pending
	epoch   integer not null default 0, -- of the newest lease
	until   integer,                    -- when that ends; null: nobody has one
	owner   text                        -- who has it or had it last
);
create index host_due on host (due) where pending > 0;
create index host_leased on host (id) where until is not null;

create table url (
	id       integer primary key,
	key      blob    not null unique,
	state    integer not null,
	run      integer not null, -- that saw it last
	host     integer not null,
	prio     integer not null,
	depth    integer not null,
	attempts integer not null default 0, -- in that run
	wait     integer,          -- pending, but not before; null: ready
	via      blob,
	last     integer,          -- capture
	url      text    not null,
	meta     blob,
	note     text
);
create index url_ready on url (host, prio, id) where state = 0 and wait is null;
create index url_waiting on url (host, wait) where wait is not null;

create table capture (
	id        integer primary key,
	item      integer not null, -- url
	key       blob,             -- of the record's URL, where that is not the item's
	url       text,             -- the same
	run       integer not null,
	time      integer,
	kind      text    not null,
	media     text    not null,
	code      integer not null,
	size      integer not null,
	digest    blob,
	sum       integer,          -- the first 8 bytes of digest, where there is a record: enough for an index
	validator text    not null,
	modified  integer,
	path      text    not null,
	file      integer,
	at        integer not null,
	bytes     integer not null,
	record    text    not null,
	proof     text    not null
);
create index capture_item on capture (item) where key is null;
create index capture_key on capture (key) where key is not null;
create index capture_sum on capture (sum) where sum is not null;

create table file (
	id   integer primary key,
	name text    not null unique,
	ends integer
);

create table name (
	fold text    primary key,
	key  blob -- null: a folder
) without rowid;
