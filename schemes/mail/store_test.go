package mail_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
)

// The messages in each store. The third message has no Message-ID, and the
// fourth has no parts.
var storeMessages = []string{
	plainMessage,
	multipart,
	"From: carol@example.net\r\nTo: \"Bob\" <BOB@example.org>\r\nSubject: no id\r\n\r\nFrom here on\r\n",
	"From: dave@example.net\r\nTo: jimbob@example.org\r\nMessage-ID: <4@example.net>\r\n\r\nanother bob\r\n",
	"To: bare@example.org\r\n\r\nneither subject nor id\r\n",
}

func lf(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// mailStores creates a store of each kind. It returns the locations and the
// line endings of the messages.
func mailStores(t *testing.T) map[string]struct{ place, end string } {
	dir := t.TempDir()
	for _, sub := range []string{"md/new", "md/cur", "md/tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	box := ""
	s := peer.Dovecot(t, peer.DovecotOptions{})
	for i, text := range storeMessages {
		name := filepath.Join(dir, "md", []string{"new", "cur"}[i%2], string(rune('a'+i)))
		if err := os.WriteFile(name, []byte(lf(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		received := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(name, received, received); err != nil {
			t.Fatal(err)
		}
		box += "From x@example.org Mon Jan  1 00:00:00 2024\n" + strings.ReplaceAll(lf(text), "\nFrom here", "\n>From here") + "\n"
		s.Add(peer.User, "INBOX", text)
	}
	if err := os.WriteFile(filepath.Join(dir, "box"), []byte(box), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]struct{ place, end string }{
		"maildir": {filepath.Join(dir, "md"), "\n"},
		"mbox":    {"file://" + filepath.Join(dir, "box"), "\n"},
		"imap":    {"imap://" + peer.User + ":" + peer.Password + "@" + s.Addr + "/", "\r\n"},
	}
}

func TestStores(t *testing.T) {
	t.Parallel()
	for name, s := range mailStores(t) {
		t.Run(name, func(t *testing.T) {
			as := func(text string) string { return strings.ReplaceAll(lf(text), "\n", s.end) }
			c := client(t, mail.Options{Stores: []string{s.place}})
			for _, test := range []struct{ url, want, media string }{
				{"mid:tea@example.org", as(plainMessage), "message/rfc822"},
				{"mid:%3Cm1@example.org%3E", as(multipart), "message/rfc822"},
				{"mid:m1@example.org/part2@example.org", "\x00\x01\x02\x03\x04\x05", `application/octet-stream; name="d.bin"`},
			} {
				resp, got, err := schemetest.Read(t, c, test.url)
				if err != nil || got != test.want || resp.Media != test.media || resp.Kind != fetch.Document {
					t.Errorf("%s: got %q, %v, want %q", test.url, got, err, test.want)
				}
			}
			for _, url := range []string{"mid:none@example.org", "mid:tea@example.org/part2@example.org", "mid:ea@example.org"} {
				if _, got, err := schemetest.Read(t, c, url); !errors.Is(err, fetch.NotFound) {
					t.Errorf("%s: got %q, %v, want NotFound", url, got, err)
				}
			}
			testMailto(t, c, s.end)
			box := client(t, mail.Options{Stores: []string{s.place}, Mbox: true})
			resp, got, err := schemetest.Read(t, box, "mailto:bob@example.org")
			want := "From carol@example.net Mon Jan  1 00:00:00 2024\n" + strings.Replace(lf(storeMessages[2]), "\nFrom here", "\n>From here", 1) + "\n"
			if err != nil || resp.Media != "application/mbox" || strings.Count(got, "From ") != 4 || !strings.Contains(got, want) {
				t.Errorf("mbox: got %q, %v, want %q included", got, err, want)
			}
		})
	}
}

func testMailto(t *testing.T, c *fetch.Client, end string) {
	all, err := schemetest.List(t, c, "mailto:Bob@example.org?subject=ignored")
	got := map[string]string{}
	for _, e := range all {
		got[e.Name] = e.URL.Scheme()
		if e.URL.Scheme() == "mid" {
			if _, _, err := schemetest.Read(t, c, e.URL.String()); err != nil {
				t.Errorf("entry %s: %v", e.URL, err)
			}
		}
	}
	_, unnamed := got["no id"]
	if err != nil || len(got) != 3 || got["tea"] != "mid" || got["café"] != "mid" || !unnamed {
		t.Errorf("mailto: got %v, %v", got, err)
	}
	if all, err := schemetest.List(t, c, "mailto:bare@example.org"); err != nil || len(all) != 1 || all[0].Name == "" {
		t.Errorf("mailto of a message without a subject: got %v, %v", all, err)
	}
	if all, err := schemetest.List(t, c, "mailto:nobody@example.org"); err != nil || len(all) != 0 {
		t.Errorf("mailto of an unknown address: got %v, %v", all, err)
	}
}

func TestStoreErrors(t *testing.T) {
	c := client(t, mail.Options{})
	for url, want := range map[string]string{
		"mailto:bob@example.org":   "mail store",
		"mid:tea@example.org":      "no mail store",
		"cid:part2@example.org":    "no message is given",
		"mailto:":                  "has no address",
		"mailto:a%0d%0ab@x":        "not a mail address",
		"mid:a%0d%0ab@x":           "byte 0x0d",
		"mid://host/a@b":           "not have a host",
		"mailto:bob@example.org,x": "not a mail address",
	} {
		if _, got, err := schemetest.Read(t, c, url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, %v, want %q", url, got, err, want)
		}
	}
	if _, _, err := schemetest.Read(t, c, "mailto:bob@example.org"); !errors.Is(err, fetch.Unsupported) {
		t.Errorf("got %v", err)
	}
}

func TestCid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "box")
	if err := os.WriteFile(path, []byte("From x\n"+lf(multipart)), 0o600); err != nil {
		t.Fatal(err)
	}
	o := mail.Options{Stores: []string{path}}
	var c *fetch.Client
	o.In = func(ctx context.Context) (*fetch.Response, error) { return c.Get(ctx, "mid:m1@example.org") }
	c = client(t, o)
	for url, want := range map[string]string{"cid:part2@example.org": "\x00\x01\x02\x03\x04\x05", "cid:none": ""} {
		_, got, err := schemetest.Read(t, c, url)
		if got != want || (want == "") != errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %q, %v", url, got, err)
		}
	}
	u, _ := fetch.ParseURL("cid:part2@example.org")
	from, _ := fetch.ParseURL("mid:m1@example.org")
	o.In = nil
	c = client(t, o)
	if _, got, err := schemetest.ReadRequest(t, c, &fetch.Request{URL: u, From: &fetch.Source{URL: from}}); err != nil || len(got) != 6 {
		t.Errorf("from a message: got %q, %v", got, err)
	}
}

// TestNestedCid tests that a cid URL inside another cid URL is an error.
func TestNestedCid(t *testing.T) {
	var o mail.Options
	var c *fetch.Client
	o.In = func(ctx context.Context) (*fetch.Response, error) { return c.Get(ctx, "cid:other") }
	c = client(t, o)
	if _, _, err := schemetest.Read(t, c, "cid:part"); !errors.Is(err, fetch.Usage) {
		t.Errorf("got %v", err)
	}
}
