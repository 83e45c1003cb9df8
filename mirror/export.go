package mirror

import (
	"context"
	"regexp"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// ExportOptions contains the settings of Export.
type ExportOptions struct {
	// Archive contains the captures. Its fields Time and Until select which
	// capture of each object is written. The default is the newest capture.
	// Export ignores Decode and Raw.
	Archive *warc.Archive

	// Client determines the scheme of each URL. Export sends no requests.
	Client *fetch.Client

	Include   []*regexp.Regexp // if not empty, export only URLs that match a pattern
	Exclude   []*regexp.Regexp // do not export matching URLs
	Overwrite bool             // if true, replace existing files with other content

	// Report is called for each object that Export cannot write. It may be nil.
	Report func(ExportProblem)
}

// An ExportProblem describes an object that Export did not write, or a capture
// that it could not read.
type ExportProblem struct {
	URL  string
	Path string // path of the file, or ""
	Err  error  // wraps fetch.Exists if the file exists with other content
}

// Exported contains the results of Export. Except for Bytes and Damaged, the
// fields are numbers of URLs.
type Exported struct {
	Files     int64 `json:"files"`     // new files
	Bytes     int64 `json:"bytes"`     // bytes in new files
	Present   int64 `json:"present"`   // files that existed with the same content
	Conflicts int64 `json:"conflicts"` // files that existed with other content and were not replaced
	Damaged   int64 `json:"damaged"`   // captures that are damaged, truncated or incomplete
	Redirects int64 `json:"redirects"` // URLs with only redirects in the archive
	Errors    int64 `json:"errors"`    // URLs with only error responses in the archive
	Skipped   int64 `json:"skipped"`   // URLs that the patterns exclude, or whose scheme cannot be mirrored
}

// Export writes the objects of an archive as files to the directory dir. The
// file names are those that a new mirror uses in tree/. It creates the
// directory if necessary.
//
// If an object has several captures, Export ignores redirects and errors, and
// writes the capture that replay prefers. If a capture is damaged or truncated,
// Export reports it and writes the next one. Revisit records are resolved.
// Content codings are removed, except from files that are compressed
// themselves. The time of a file is the time that the server sent, or the time
// of the capture.
//
// A file gets its name when it is complete. An existing file with the same
// content is kept. If Export is interrupted, another call with the same archive
// completes the directory. Memory use does not depend on the size of the archive.
func Export(ctx context.Context, dir string, o ExportOptions) (Exported, error) {
	report := func(archive.ExportProblem) {}
	if o.Report != nil {
		report = func(p archive.ExportProblem) { o.Report(ExportProblem(p)) }
	}
	result, err := archive.Export(ctx, dir, archive.ExportOptions{
		Archive: o.Archive, Overwrite: o.Overwrite, Scheme: o.Client.Scheme, Select: o.selects, Report: report,
	})
	return Exported(result), err
}

// selects reports whether the object at u is exported.
func (o *ExportOptions) selects(u uri.URI) bool {
	text := u.Unredacted()
	matches := func(r *regexp.Regexp) bool { return r.MatchString(text) }
	return canMirror(o.Client.Scheme(u.Scheme())) && !slices.ContainsFunc(o.Exclude, matches) &&
		(len(o.Include) == 0 || slices.ContainsFunc(o.Include, matches))
}
