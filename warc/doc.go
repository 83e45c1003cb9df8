// Package warc writes, reads, verifies, indexes and replays web archives in the
// WARC format, version 1.1 (ISO 28500:2017). It supports every scheme of package
// fetch.
//
// To write an archive, call [NewWriter], and then [Writer.Write] with the
// records of one capture. The methods of [Capture] return these records:
//
//	w, err := warc.NewWriter(dir, warc.Options{})
//	...
//	c := warc.Capture{URL: u, Date: time.Now()}
//	positions, err := w.Write(
//		c.Resource("text/plain", body),
//		c.Metadata(warc.FieldsMedia, fields))
//
// A group of records is written completely or not at all. It is durable after
// [Writer.Sync] returns. Each record is compressed as a separate gzip member or
// zstd frame.
//
// Package warc/record does this for all requests of a fetch.Client or an
// http.Client; its function ToFile needs no Writer.
//
// To read an archive, use one of these functions:
//
//   - [NewReader] reads the records of a WARC or ARC file.
//   - [Entries] lists the captured objects of a file.
//   - [Verify] reports damage and violations of the format.
//   - [Index] writes a CDXJ index.
//   - [Open] returns an [Archive], which replays its captures through a
//     fetch.Client and writes them to a WACZ file ([Archive.Pack]).
//
// # Record types
//
// An HTTP exchange is stored as a response record and a request record, which
// contain the bytes sent over the network. Objects of other schemes are stored
// as a resource record, followed by a metadata record that describes the
// retrieval. They are not response records, because other software parses every
// response record as HTTP. The file doc/warc.md describes the records of each
// scheme.
//
// # Limits
//
// Memory use does not depend on the size of blocks. The header of a record is
// limited to 1 MiB. The Reader accepts many deviations of other software from
// the format. It does not join segmented records (WARC 1.1 section 7). Windows of
// zstd frames are limited to 16 MiB, and zstd dictionaries to 8 MiB.
package warc
