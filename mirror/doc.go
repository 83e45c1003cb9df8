// Package mirror brings whole sites into an archive that stays true after a
// crash: every object whole or not at all, each once, over every scheme.
//
// [Run] starts a mirror, continues one that was stopped or killed, and looks
// again after one that ended: it is the same call. What it writes lies in one
// folder:
//
//	fetch.db             what is still to visit and what was brought: the truth
//	tree/                the objects as files
//	warc/                the objects as records of WARC 1.1
//	index/all.cdxj       where in warc/ each is, derived
//	manifest-sha256.txt  the digests of tree/ for sha256sum -c, derived
//	mail/                groups and mailboxes as mboxes or Maildirs, derived
//	attic/               what Options.Delete took out of tree/
//	crawl.jsonl          a line for each visit
//	failed.txt           the URLs that failed in the last run, derived
//
// A server that says it cannot answer now, or says nothing, is left alone by
// all visits for a while that grows. One that stays silent gets no more requests
// in this run. Its URLs stay pending, and the next run requests them.
//
// An object reaches the archive in this order: the bytes into files of no
// name, or behind the end of a WARC; those to the disk; then one transaction
// that says where they are and what they lead to; then the names in the tree. A
// kill before the transaction leaves bytes that nothing names, which the next run
// cuts off; after one behind it the next run gives the names.
package mirror
