// Package fetch is the root of the module and has no declarations. A program
// imports the packages below it. Their paths start with github.com/anyurl/fetch,
// and the first one is github.com/anyurl/fetch/fetch:
//
//	fetch             requests for URLs of all schemes, the Policy, errors
//	fetch/urlfs       directories and menus as an io/fs.FS
//	fetch/roundtrip   URLs of all schemes for net/http
//	fetch/trace       the events of a request
//	fetch/override    the setting that permits a denied request
//	fetch/scheme      the types for a scheme of your own
//	fetch/fetchtest   tests for a scheme of your own
//	schemes           all schemes, and a Client with them
//	schemes/NAME      a single scheme, such as schemes/ftp
//	save              downloads to files, with resume and progress
//	verify            digests of downloads
//	verify/blake      the digests BLAKE2b and BLAKE3
//	verify/signature  signatures of OpenPGP, minisign and signify
//	links             the links of documents
//	mirror            crawls into archives, memory or databases
//	mirror/postgres   a database for the workers of a crawl
//	mirror/s3         a bucket for the WARC files of a crawl
//	warc              WARC and WACZ files: write, read, verify, replay
//	warc/record       records the requests of a Client or an http.Client
//	warc/textindex    searches in the texts of archives
//	warc/zst          WARC files that are compressed with zstd
//	gateway           archives and live URLs in a web browser
//	gateway/replay    archived pages with their scripts
//	capture           records the requests of a proxy
//	capture/browser   opens pages in Chromium
//	wrap              retries, limits, logs, spans, caches, robots.txt
//	wrap/mirrors      one object from several mirrors
//	netrc             logins from ~/.netrc
//	uri               URIs (RFC 3986)
//	uri/iri           URLs as people type and read them
//
// For example, "go doc github.com/anyurl/fetch/save" describes downloads. The file
// doc/library.md lists the package for each task.
package fetch
