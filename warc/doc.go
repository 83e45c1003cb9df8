// Package warc writes, reads, verifies, indexes and replays web archives: files
// of the WARC format, version 1.1 (ISO 28500:2017), for every scheme that
// package fetch knows.
//
// To write, call [NewWriter] and then [Writer.Write] with the records of one
// capture, which the methods of [Capture] make:
//
//	w, err := warc.NewWriter(warc.Root(dir), warc.Options{})
//	...
//	c := warc.Capture{URL: u, Date: time.Now()}
//	places, err := w.Write(
//		c.Resource("text/plain", body),
//		c.Metadata("text/x-gopher-conversation", conversation))
//
// A group of records is written whole or not at all, and is durable once
// [Writer.Sync] has returned. Each record is a gzip member of its own.
//
// To read, call [NewReader] for the records of a file, [Entries] for what it
// holds, [Verify] for what is wrong with it, [Index] for where each capture
// lies, and [Open] for an [Archive] that answers URLs as the network did, or is
// packed for others ([Archive.Pack]).
//
// # Which records
//
// An exchange of http is a response and a request record, which hold the bytes
// as they went over the wire. What any other scheme brings is a resource record,
// followed by a metadata record that tells how it was brought: other software
// takes each response record for one of http. The conventions are in
// doc/warc.md.
//
// # Limits
//
// Blocks of any size pass through a few buffers. The head of a record is held to
// 1 MiB. Files of other software are read with their oddities; zstd members,
// ARC files and records in segments are not put together.
package warc
