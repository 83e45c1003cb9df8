package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// writeCaptures writes captures of several years to the folder warc of a new
// directory, and returns the directory.
func writeCaptures(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mirror")
	if err := os.MkdirAll(filepath.Join(dir, "warc"), 0o777); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "warc"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(url, date string) warc.Capture {
		day, err := time.Parse(time.RFC3339Nano, date)
		if err != nil {
			t.Fatal(err)
		}
		return warc.Capture{URL: uri.MustParse(url), Date: day}
	}
	write := func(r *warc.Record) warc.Position {
		places, err := w.Write(r)
		if err != nil {
			t.Fatal(err)
		}
		return places[0]
	}
	page := "http://h.example/page"
	answer := func(status, body string) *strings.Reader {
		return strings.NewReader("HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\n\r\n" + body)
	}
	write(at(page, "2019-06-01T10:00:00Z").Response(answer("200 OK", "of 2019")))
	first := write(at(page, "2020-01-02T10:00:00.25Z").Response(answer("200 OK", "of 2020")))
	write(at(page, "2023-05-01T10:00:00Z").Revisit(
		warc.Reference{ID: first.ID, URL: uri.MustParse(page), Date: first.Date}, first.PayloadDigest, answer("200 OK", "")))
	write(at(page, "2026-01-01T10:00:00Z").Response(answer("404 Not Found", "gone")))
	for _, u := range []string{"gopher://h.example/0/a", "ftp://h.example/a", "news://h.example/a@h.example"} {
		write(at(u, "2019-06-01T10:00:00Z").Resource("text/plain", strings.NewReader("old")))
		write(at(u, "2024-06-01T10:00:00Z").Resource("text/plain", strings.NewReader("new")))
		write(at(u, "2025-06-01T10:00:00Z").Failure(os.ErrNotExist))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestReplayAt reads captures of a folder, a WARC file and a WACZ file.
func TestReplayAt(t *testing.T) {
	dir := writeCaptures(t)
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %q, %v", files, err)
	}
	wacz := filepath.Join(t.TempDir(), "a.wacz")
	runFetch(t, 0, "pack", dir, "--wacz", wacz)
	const page = "http://h.example/page"
	for _, archive := range []string{dir, files[0], wacz} {
		for _, tc := range []struct {
			at, url, want string
			exit          int
		}{
			{"2019", page, "of 2019", 0}, // the capture of 2020 is nearer to the end of 2019
			{"201912", page, "of 2020", 0},
			{"20200102", page, "of 2020", 0},
			{"20200102100000", page, "of 2020", 0},
			{"2020-01-02T11:00:00.5+01:00", page, "of 2020", 0},
			{"1990", page, "of 2019", 0},
			{"2023-05", page, "of 2020", 0}, // a revisit
			{"2022-01-02T10", page, "", 2},
			{"2030", page, "", 8}, // 404
			{"2026-01-01", page, "", 8},
			{"2019", "gopher://h.example/0/a", "old", 0},
			{"2020", "ftp://h.example/a", "old", 0},
			{"2022", "news://h.example/a@h.example", "new", 0},
			{"2026", "gopher://h.example/0/a", "new", 0}, // the failure of 2025 is no capture
		} {
			out := runFetch(t, tc.exit, "--archive", archive, "--at", tc.at, tc.url)
			if out != tc.want {
				t.Errorf("%s at %s: got %q, want %q", tc.url, tc.at, out, tc.want)
			}
		}
		_, notes := runFetchStderr(t, 8, "--archive", archive, page)
		contains(t, notes, "captured 2026-01-01T10:00:00Z", "the object was captured at 20230501100000")
		if out := runFetch(t, 0, "--archive", archive, "gopher://h.example/0/a"); out != "new" {
			t.Errorf("without --at: got %q", out)
		}

		sum := " sha1:"
		list := strings.Split(runFetch(t, 0, "ls", "--archive", archive, "--captures", page), "\n")
		for i, want := range []string{
			"2019-06-01T10:00:00Z 200            7" + sum, "2020-01-02T10:00:00Z 200            7" + sum,
			"2023-05-01T10:00:00Z 200            7" + sum, "2026-01-01T10:00:00Z 404            4" + sum,
		} {
			if len(list) != 5 || !strings.HasPrefix(list[i], want) || !strings.HasSuffix(list[i], " text/plain") {
				t.Fatalf("capture %d: got %q, want %q", i, list, want)
			}
		}
		contains(t, runFetch(t, 0, "ls", "--archive", archive, "--captures", "--json", page),
			`"time":"2020-01-02T10:00:00.25Z"`, `"type":"revisit"`, `"status":"404"`, `"size":7`)
		runFetch(t, 8, "ls", "--archive", archive, "--captures", "http://h.example/none")
	}
	runFetch(t, 2, "--at", "2020", page)
	runFetch(t, 2, "ls", "--captures", page)
	runFetch(t, 2, "ls", "--archive", dir, "--captures", "--urls", page)

	// With an index, a damaged record does not hide the captures.
	index := filepath.Join(dir, "index", "all.cdxj")
	lines := runFetch(t, 0, "index", files[0])
	text, err := os.ReadFile(files[0])
	if err == nil {
		err = os.MkdirAll(filepath.Dir(index), 0o777)
	}
	if err == nil {
		err = os.WriteFile(index, []byte(lines), 0o666)
	}
	if err == nil {
		err = os.WriteFile(files[0], text[:len(text)/4], 0o666)
	}
	if err == nil {
		err = os.Chtimes(files[0], time.Unix(0, 0), time.Unix(0, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	out := runFetch(t, 0, "ls", "--archive", dir, "--captures", page)
	contains(t, out, "2019-06-01T10:00:00Z 200            7 sha1:", "2026-01-01T10:00:00Z 404            - ",
		" text/plain\t", "has no record of this URL")
}
