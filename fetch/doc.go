// Package fetch retrieves the object that a URL names, over current and
// historic Internet protocols.
//
// Package [github.com/anyurl/fetch/schemes] returns a Client with all schemes.
// The Policy Typed is for URLs that a user enters. It permits, for example,
// servers on this machine:
//
//	client := schemes.NewClient(fetch.Typed())
//	defer client.Close()
//	resp, err := client.Get(ctx, "http://example.org/")
//	if err != nil {
//		return err
//	}
//	defer resp.Body.Close()
//	_, err = io.Copy(w, resp.Body)
//
// Programs with other options or schemes call [New]. [FuncScheme] makes a scheme
// of a function, and the file doc/writing-a-scheme.md describes others.
//
// A Client only retrieves objects: it has no POST and no other method that changes
// the server.
//
// Every request returns a [Response]. The field Kind distinguishes a document,
// a menu, a searchable index and a session. [Client.List] and
// [Response.Entries] read a menu as entries. [Client.Query] returns the URL of a
// search. [Entry.Request] returns a request for an entry of a listing, and
// [Response.Request] returns a request for a link in a document.
//
// These packages, whose paths start with github.com/anyurl/fetch, build on a
// Client:
//
//   - schemes returns all schemes, and schemes/NAME a single one.
//   - save downloads to files, and verify compares their digests.
//   - fetch/urlfs presents listings as an io/fs.FS.
//   - fetch/roundtrip is a transport for net/http.
//   - wrap has middlewares for retries, limits, logs and caches.
//   - links finds the links of documents, and mirror crawls.
//   - warc reads and writes web archives, and warc/record records requests.
//   - gateway serves archives and live URLs to browsers.
//   - uri parses URLs, and netrc has credentials from a file.
//
// The file doc/library.md lists the package for each task.
//
// # Safety
//
// Drivers reach the network only through [Net], which enforces the [Policy] on
// every connection. The zero Policy allows only public addresses and is safe
// for URLs from untrusted sources. The Policy [Typed] is for URLs that the user
// entered.
//
// # Completeness
//
// Reading a Body returns io.EOF only if the protocol confirmed that the body is
// complete. If the body ends in any other way, reading returns an error. The
// [Fault] of an error determines how the caller can react.
//
// # Writing a scheme
//
// A scheme is a value of type [Scheme]. Its function Plan uses no network, and
// its function Open returns a [Driver]. Package fetchtest has the test suite
// that every scheme must pass.
package fetch
