package listing

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "-", 0: "0", 1023: "1023", 1024: "1.0K", 1025: "1.1K", 10 * 1024: "10K", 10*1024 - 1: "10K", 10*1024 + 1: "11K",
		1023 * 1024: "1023K", 1023*1024 + 1: "1.0M", 1<<20 - 1: "1.0M", 1 << 20: "1.0M", 12288000: "12M", 1 << 30: "1.0G", 1<<63 - 1: "8.0E",
	} {
		if got := Size(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		format Format
		entry  fetch.Entry
		want   string
	}{
		{"file of this year", Format{}, fetch.Entry{Name: "disk.iso", Kind: fetch.Document, Size: 12288000,
			Time: now.AddDate(0, -1, 0)}, "document    12M  Oct 22 12:00  disk.iso"},
		{"old directory", Format{}, fetch.Entry{Name: "docs", Kind: fetch.Menu, Size: -1, URL: uri.MustParse("ftp://h/docs/"),
			Time: now.AddDate(-2, 0, 0)}, "directory     -  Nov 22  2024  docs"},
		{"time in the future", Format{}, fetch.Entry{Name: "x", Kind: fetch.Document, Size: -1, Time: now.AddDate(0, 0, 2)},
			"document      -  Nov 24  2026  x"},
		{"SFTP directory", Format{HideSize: true, HideTime: true}, fetch.Entry{Name: "docs", Kind: fetch.Menu, Size: -1,
			URL: uri.MustParse("sftp://h/docs/")}, "directory docs"},
		{"NFS directory", Format{HideSize: true, HideTime: true}, fetch.Entry{Name: "docs", Kind: fetch.Menu, Size: -1,
			URL: uri.MustParse("nfs://h/docs/")}, "directory docs"},
		{"gopher menu", Format{HideSize: true, HideTime: true}, fetch.Entry{Name: "docs", Kind: fetch.Menu, Size: -1,
			URL: uri.MustParse("gopher://h/1/docs")}, "menu      docs"},
		{"color", Format{Color: true, HideSize: true, HideTime: true}, fetch.Entry{Name: "d\x1b[2J", Kind: fetch.Menu,
			URL: uri.MustParse("file:///d/")}, "directory \x1b[1;34md\\x1b[2J\x1b[0m"},
		{"long name", Format{Width: 40}, fetch.Entry{Name: "a long name of a file", Kind: fetch.Document, Size: 1},
			"document      1  -             a long n…"},
		{"wide name", Format{Width: 36, HideTime: true, HideSize: true}, fetch.Entry{Name: "日本語日本語日本語日本語日本語", Kind: fetch.Document},
			"document  日本語日本語日本語日本語…"},
		{"narrow terminal", Format{Width: 10}, fetch.Entry{Name: "name", Kind: fetch.Document, Size: 1},
			"document      1  -             …"},
		{"description", Format{Width: 48}, fetch.Entry{Name: "local.test", Kind: fetch.Menu, Size: -1,
			URL: uri.MustParse("news:local.test"), Extra: map[string]string{"description": "all tests\nx"}},
			"group         -  -             local.test  all …"},
		{"media type and URL", Format{Width: 20, Type: true, URL: true, HideTime: true, HideSize: true},
			fetch.Entry{Name: "x", Kind: fetch.Document, Media: "text/plain", URL: uri.MustParse("http://h/a/very/long/path")},
			"document  text/plain                x\n          http://h/a/very/long/path"},
		{"line of text", Format{Width: 9}, fetch.Entry{Name: "Welcome\tto you", Kind: fetch.Info}, `Welcome\…`},
	} {
		c.format.Now, c.format.Scheme = now, fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...).Scheme
		if got := c.format.Line(c.entry); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}
