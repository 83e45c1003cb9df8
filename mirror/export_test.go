package mirror_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// exportTo exports the archives to dir. It returns the results and the URLs of
// the problems.
func exportTo(t testing.TB, dir string, o mirror.ExportOptions, archives ...string) (mirror.Exported, []string) {
	t.Helper()
	a, err := warc.Open(archives...)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Time, a.Until = o.Archive.Time, o.Archive.Until
	var problems []string
	o.Archive, o.Client = a, client(t)
	o.Report = func(p mirror.ExportProblem) { problems = append(problems, p.URL) }
	result, err := mirror.Export(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return result, problems
}

// TestExportEqualsTree checks that an export has the same files as the tree of
// the mirror, for each scheme.
func TestExportEqualsTree(t *testing.T) {
	t.Parallel()
	for name, start := range sites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, start(t).urls...)
			run(t, o)
			want := tree(t, o.Dir, "")
			dir := t.TempDir()
			for _, again := range []bool{false, true} {
				result, problems := exportTo(t, dir, mirror.ExportOptions{Archive: &warc.Archive{}}, o.Dir)
				n := int64(len(want))
				if again && result.Present != n || !again && result.Files != n || len(problems) > 0 {
					t.Errorf("%+v, problems %q", result, problems)
				}
				if got := filesBelow(t, dir); digests(got) != digests(want) {
					t.Errorf("the files differ:\n%s", differ(digests(got), digests(want)))
				}
			}
		})
	}
}

// A capture is a record for captures. The body of an http URL begins with the
// status line.
type capture struct {
	url, body string
	kind      warc.Type // the default is a response record for http
	media     string
	second    int    // time of the capture
	truncated string // reason
	of        int    // for a revisit record: index of the original
}

// writeCaptures writes a WARC file and returns its directory.
func writeCaptures(t testing.TB, captures []capture) string {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Prefix: "test"})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	places := make([]warc.Position, len(captures))
	for i, c := range captures {
		at := &warc.Capture{URL: uri.MustParse(c.url), Date: start.Add(time.Duration(c.second) * time.Second)}
		block := strings.NewReader(strings.ReplaceAll(c.body, "\n\n", "\r\n\r\n"))
		r := at.Response(block)
		switch {
		case c.kind == warc.Revisit:
			of := captures[c.of]
			r = at.Revisit(warc.Reference{
				ID: places[c.of].ID, URL: uri.MustParse(of.url), Date: start.Add(time.Duration(of.second) * time.Second),
			}, places[c.of].PayloadDigest, nil)
		case c.kind != "" || !strings.HasPrefix(c.url, "http"):
			r = at.Resource(c.media, block)
		}
		if r.Truncated = c.truncated; c.kind == warc.Conversion {
			r.Type = warc.Conversion
		}
		written, err := w.Write(r)
		if err != nil {
			t.Fatal(err)
		}
		places[i] = written[0]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ok returns an HTTP response with the given header fields and body.
func ok(header, body string) string {
	return "HTTP/1.1 200 OK\r\n" + header + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
}

// TestExportCaptures checks which capture of a URL becomes a file, and its name.
func TestExportCaptures(t *testing.T) {
	t.Parallel()
	const a = "http://a.example/"
	notFound, moved := "HTTP/1.1 404 No\r\n\r\nnone", "HTTP/1.1 301 To\r\nLocation: /to\r\n\r\n"
	coded := "Content-Encoding: gzip\r\n"
	for name, c := range map[string]struct {
		captures []capture
		at       string // second of the period, or ""
		want     string // files with their content
		result   mirror.Exported
		problems int
	}{
		"newest": {captures: []capture{{url: a + "x", body: ok("", "old")}, {url: a + "x", body: ok("", "new"), second: 5}}, want: "x=new"},
		"at": {captures: []capture{{url: a + "x", body: ok("", "old")}, {url: a + "x", body: ok("", "new"), second: 5}},
			at: "2026-11-21T08:00:01Z", want: "x=old"},
		"error after an object":    {captures: []capture{{url: a + "x", body: ok("", "old")}, {url: a + "x", body: notFound, second: 5}}, want: "x=old"},
		"redirect after an object": {captures: []capture{{url: a + "x", body: ok("", "old")}, {url: a + "x", body: moved, second: 5}}, want: "x=old"},
		"only an error":            {captures: []capture{{url: a + "x", body: notFound}}, result: mirror.Exported{Errors: 1}},
		"only a redirect":          {captures: []capture{{url: a + "x", body: moved}}, result: mirror.Exported{Redirects: 1}},
		"part of an object":        {captures: []capture{{url: a + "x", body: "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-1/9\r\n\r\nab"}}, result: mirror.Exported{Errors: 1}},
		"truncated after complete": {captures: []capture{{url: a + "x", body: ok("", "old")}, {url: a + "x", body: ok("", "new"), second: 5, truncated: "time"}},
			want: "x=old", result: mirror.Exported{Damaged: 1}, problems: 1},
		"revisit":                   {captures: []capture{{url: a + "x", body: ok("", "text")}, {url: a + "y", kind: warc.Revisit, second: 5}}, want: "x=text y=text"},
		"conversion after response": {captures: []capture{{url: a + "x", body: ok("", "page")}, {url: a + "x", kind: warc.Conversion, media: "image/png", body: "png", second: 5}}, want: "x=page"},
		"only a resource":           {captures: []capture{{url: a + "x", kind: warc.Resource, media: "image/png", body: "png"}}, want: "x=png"},
		"coding removed":            {captures: []capture{{url: a + "x", body: ok(coded, gzipped(t, "plain"))}}, want: "x=plain"},
		"coding kept":               {captures: []capture{{url: a + "x.tgz", body: ok(coded, gzipped(t, "tar"))}}, want: "x.tgz=" + gzipped(t, "tar")},
		"coding only in the header": {captures: []capture{{url: a + "x", body: ok(coded, "already decoded")}}, want: "x=already decoded"},
		"equivalent URLs":           {captures: []capture{{url: a + "%7Ex", body: ok("", "old")}, {url: "http://A.example:80/~x", body: ok("", "new"), second: 5}}, want: "~x=new"},
		"file and folder":           {captures: []capture{{url: a + "x", body: ok("", "file")}, {url: a + "x/y", body: ok("", "in")}}, want: "x=file x@dir/y=in"},
		"upper and lower case":      {captures: []capture{{url: a + "X", body: ok("", "1")}, {url: a + "x", body: ok("", "2")}}, want: "X=1 x~" + fmt.Sprintf("%x", sha256.Sum256([]byte(a+"x")))[:8] + "=2"},
		"outside":                   {captures: []capture{{url: a + "%2e%2e/%2e%2e/etc", body: ok("", "no")}, {url: a + ".git/config", body: ok("", "git")}}, want: "%2Egit/config=git etc=no"},
		"other schemes":             {captures: []capture{{url: "dns:a.example", media: "text/dns", body: "a"}, {url: "urn:pageinfo:" + a, media: "application/json", body: "{}"}}, result: mirror.Exported{Skipped: 2}},
		"empty object":              {captures: []capture{{url: a + "x", body: ok("", "")}}, want: "x="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mirror.ExportOptions{Archive: &warc.Archive{}}
			if c.at != "" {
				o.Archive.Time, _ = time.Parse(time.RFC3339, c.at)
			}
			dir, in := t.TempDir(), writeCaptures(t, c.captures)
			for range 2 { // the second export changes nothing
				result, problems := exportTo(t, dir, o, in)
				var got []string
				files := filesBelow(t, filepath.Join(dir, "http/a.example"))
				for _, name := range slices.Sorted(maps.Keys(files)) {
					got = append(got, name+"="+files[name])
				}
				if strings.Join(got, " ") != c.want {
					t.Errorf("got %q, want %s", got, c.want)
				}
				result.Files, result.Bytes, result.Present = 0, 0, 0
				if result != c.result || len(problems) != c.problems {
					t.Errorf("%+v, problems %q", result, problems)
				}
			}
		})
	}
}

// TestExportExisting checks that an export replaces existing files only with
// Overwrite, and reports other objects with the names of its files.
func TestExportExisting(t *testing.T) {
	t.Parallel()
	in := writeCaptures(t, []capture{{url: "http://a.example/d/x", body: ok("", "new")}, {url: "http://a.example/y", body: ok("", "y")}})
	write := func(name, text string) func(string) error {
		return func(dir string) error {
			name := filepath.Join(dir, filepath.FromSlash(name))
			return errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666))
		}
	}
	for name, c := range map[string]struct {
		before    func(dir string) error
		overwrite bool
		want      string // content of d/x, or "" if it is no file
		conflicts int64
		fault     error
	}{
		"same content":        {before: write("http/a.example/d/x", "new"), want: "new"},
		"other content":       {before: write("http/a.example/d/x", "old"), want: "old", conflicts: 1},
		"longer":              {before: write("http/a.example/d/x", "new and more"), want: "new and more", conflicts: 1},
		"empty":               {before: write("http/a.example/d/x", ""), want: "", conflicts: 1},
		"overwrite":           {before: write("http/a.example/d/x", "old"), overwrite: true, want: "new"},
		"folder at the name":  {before: write("http/a.example/d/x/z", ""), overwrite: true, conflicts: 1},
		"file for a folder":   {before: write("http/a.example/d", "file"), overwrite: true, conflicts: 1},
		"incomplete file":     {before: write(".fetch-export/abc.1.part", "ne"), want: "new"},
		"link for a folder":   {before: func(dir string) error { return os.Symlink(dir, filepath.Join(dir, "http")) }, fault: fetch.Local},
		"link to other files": {before: func(dir string) error { return os.Symlink("/etc", filepath.Join(dir, "http")) }, fault: fetch.Local},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.before(dir); err != nil {
				t.Fatal(err)
			}
			a, err := warc.Open(in)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			result, err := mirror.Export(t.Context(), dir, mirror.ExportOptions{Archive: a, Client: client(t), Overwrite: c.overwrite})
			if !errors.Is(err, c.fault) || result.Conflicts != c.conflicts {
				t.Fatalf("%+v, %v", result, err)
			}
			files := filesBelow(t, dir)
			if c.fault == nil && (files["http/a.example/d/x"] != c.want || files["http/a.example/y"] != "y") {
				t.Errorf("files %q", files)
			}
			if _, err := os.Lstat(filepath.Join(dir, ".fetch-export")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("temporary files remain: %v", err)
			}
		})
	}
}

// TestExportKill kills exports at random times. No file may be incomplete, and
// the next export must complete the directory.
func TestExportKill(t *testing.T) {
	t.Parallel()
	s := sites["http"](t)
	o := options(t, s.urls...)
	run(t, o)
	want := tree(t, o.Dir, "")
	sound := childTask{Dir: o.Dir, Export: t.TempDir()}
	whole := sound.finish(t)
	for range kills {
		killed := sound
		killed.Export = t.TempDir()
		c := killed.start(t)
		timer := time.AfterFunc(rand.N(whole), func() { c.Process.Kill() })
		c.Wait()
		timer.Stop()
		for name, text := range filesBelow(t, killed.Export) {
			if !strings.HasPrefix(name, ".fetch-export/") && want[name] != text {
				t.Errorf("%s has %d bytes, want %d", name, len(text), len(want[name]))
			}
		}
		killed.finish(t)
		if got := filesBelow(t, killed.Export); digests(got) != digests(want) {
			t.Errorf("after a kill:\n%s", differ(digests(got), digests(want)))
		}
	}
}

// TestExportCanceled checks that a canceled export leaves neither
// a file nor a temporary file.
func TestExportCanceled(t *testing.T) {
	t.Parallel()
	in := writeCaptures(t, []capture{
		{url: "http://a.example/a", body: ok("", "other"), truncated: "time"}, {url: "http://a.example/b", body: ok("", "text")},
	})
	a, err := warc.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	_, err = mirror.Export(ctx, dir, mirror.ExportOptions{
		Archive: a, Client: client(t), Report: func(mirror.ExportProblem) { cancel() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left := filesBelow(t, dir); len(left) > 0 {
		t.Errorf("files %q", left)
	}
}
