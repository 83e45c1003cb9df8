// Package mirror copies sites into an archive. It supports every scheme of its
// Client. The archive contains one object for each URL. An object is either
// complete or missing, even after a crash.
//
// [Run] creates an archive, continues an interrupted run, or updates an archive
// whose last run is complete. The archive is a directory:
//
//	fetch.db             database of the visited and the pending URLs
//	tree/                the objects as files
//	warc/                the objects as WARC 1.1 records
//	index/all.cdxj       index of warc/
//	manifest-sha256.txt  digests of all other files for sha256sum -c
//	mail/                newsgroups and mailboxes as mbox files or Maildirs
//	attic/               files that Options.Delete has moved out of tree/
//	crawl.jsonl          one line for each visit
//	failed.txt           the URLs that failed in the last run
//	options.json         seeds and settings for [Crawl.Options]
//	report.json          statistics of the last run, also as text in report.txt
//
// With Options.Sink, Run crawls without an archive: the [Sink] receives each object,
// its links and the result of the visit. It can store them in a database, or in
// memory as [Memory]. The database of the URLs is then in a temporary directory,
// which Run removes:
//
//	objects := mirror.Memory{}
//	seed, err := fetch.ParseURL(text)
//	...
//	o := mirror.Options{Seeds: []uri.URI{seed}, Client: client, Sink: objects}
//	o.Event = func(e mirror.Event) {
//		if e.Err != nil {
//			log.Print(e.URL, ": ", e.Err)
//		}
//	}
//	sum, err := mirror.Run(ctx, o)
//
// A URL that fails is no error of Run, also if it is a seed: see [Summary].Failed.
//
// Scope.Filter is a function that decides which links Run follows, such as the
// result of [OmitIf]. [Open] returns a Crawl, whose methods read and change a
// crawl that exists.
//
// Run writes the index, the manifest, mail/ and failed.txt from the database
// and the objects at the end of a run.
//
// If a server does not respond, or responds that it is temporarily unavailable,
// Run sends no requests to its host during a pause. The pause grows with
// each failure. After several pauses in a row, the server gets no more
// requests in this run. Its URLs remain pending for the next run.
//
// Run commits an object in four steps. First, its bytes are written to an
// unnamed file or appended to a WARC file. Second, the files are synced to
// disk. Third, one database transaction records the object and its links.
// Fourth, the files get their names in tree/. If the process is killed before
// the transaction, the next run removes the bytes. If the process is killed
// after the transaction, the next run names the files.
package mirror
