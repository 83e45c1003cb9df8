-- Version 2 describes the upload of WARC files to a store.

alter table file
	add column incarnation bigint   not null default 1, -- incarnation of the worker that writes the file
	add column state       smallint not null default 0, -- 0 written, 1 finished but not stored, 2 stored
	add column size        bigint,                      -- bytes of a finished file
	add column sha256      bytea;                       -- digest of a finished file
create index file_local on file (worker) where state < 2;
