// Package mirror copies sites into an archive, over every scheme of a Client.
// Each URL has one object in the archive. An object is either complete or
// missing, also after a crash.
//
// [Run] starts a mirror, continues a run that was stopped or killed, and
// updates an archive whose last run is complete. The archive is a folder:
//
//	fetch.db             database of the visited and the pending URLs
//	tree/                the objects as files
//	warc/                the objects as WARC 1.1 records
//	index/all.cdxj       index of warc/
//	manifest-sha256.txt  digests of tree/ for sha256sum -c
//	mail/                newsgroups and mailboxes as mbox files or Maildirs
//	attic/               files that Options.Delete has moved out of tree/
//	crawl.jsonl          one line for each visit
//	failed.txt           the URLs that failed in the last run
//
// Run writes the index, the manifest, mail/ and failed.txt from the database
// and the objects at the end of a run.
//
// If a server does not respond, or responds that it is temporarily unavailable,
// its host gets no requests during a pause, which grows with each failure.
// After several pauses in a row, the server gets no more requests in this run.
// Its URLs stay pending for the next run.
//
// An object is committed in four steps. Its bytes are written to files without
// a name, or appended to a WARC file. The files are synced to disk. One database
// transaction records the object and the URLs that it links to. Then the files
// get their names in tree/. If the process is killed before the transaction, the
// next run removes the bytes. If it is killed after the transaction, the next
// run names the files.
package mirror
