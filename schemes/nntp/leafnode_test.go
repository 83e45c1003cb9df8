package nntp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// TestLeafnode tests a server that is older than RFC 3977.
func TestLeafnode(t *testing.T) {
	t.Parallel()
	inn := peer.INN(t, peer.INNOptions{Groups: []string{"local.test", "other.group"}})
	const count = 30
	for n := range count {
		inn.Feed(articleText(n+1, fmt.Sprintf(".\r\nbody %d\r\n", n+1)))
	}
	s := peer.Leafnode(t, inn, "local.test")
	c := newClient(t, nntp.Options{Server: s.Addr})
	_, want, err := schemetest.Read(t, c, "news:3@example.org")
	if err != nil || !strings.HasSuffix(want, "\r\n\r\n.\r\nbody 3\r\n") {
		t.Fatalf("got %q, %v", want, err)
	}
	group := "nntp://" + s.Addr + "/local.test"
	all, err := schemetest.List(t, c, group)
	if err != nil || len(all) != count {
		t.Fatalf("group: got %d entries, %v", len(all), err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return nntp.Schemes(nntp.Options{}) },
		Document: all[2].URL.String(), Body: []byte(want), Missing: group + "/99",
		Menu: group, Names: names, NoRanges: true,
	})
	if _, got, err := schemetest.Read(t, c, "nntp:local.test/1-"); err != nil ||
		strings.Count(got, "#! rnews ") != count || !strings.Contains(got, want) {
		t.Errorf("range: got %d bytes, %v", len(got), err)
	}
	if got, err := schemetest.List(t, c, "news:local.*"); err != nil || len(got) != 1 || got[0].Name != "local.test" {
		t.Errorf("groups: got %v, %v", got, err)
	}
	if got, err := schemetest.List(
		t, newClient(t, nntp.Options{Server: s.Addr, Field: "From"}), "nntp:local.test",
	); err != nil || len(got) != count {
		t.Errorf("field: got %d entries, %v", len(got), err)
	}
	marks := &nntp.Marks{}
	resp, notes := getWithNotes(t, newClient(t, nntp.Options{Server: s.Addr, Marks: marks}), "nntp:other.group")
	for e, err := range resp.Entries() {
		if err != nil || e.Kind != fetch.Info || !e.URL.IsZero() || !strings.HasPrefix(e.Name, "Leafnode placeholder") {
			t.Errorf("placeholder: got %+v, %v", e, err)
		}
	}
	if mark := marks.Get(s.Addr, "other.group"); mark.Number != 0 || !strings.Contains(resp.Doubt, "placeholder") ||
		!strings.Contains(notes, resp.Doubt) {
		t.Errorf("placeholder: mark %+v, doubt %q, notes %q", mark, resp.Doubt, notes)
	}
	for _, url := range []string{"news:none@example.org", "nntp:no.group"} {
		if _, got, err := schemetest.Read(t, c, url); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %q, %v", url, got, err)
		}
	}
}

// getWithNotes returns the response for url and the notes of its trace.
func getWithNotes(t testing.TB, c *fetch.Client, url string) (*fetch.Response, string) {
	t.Helper()
	var notes []string
	req := &fetch.Request{
		URL:   uri.MustParse(url),
		Trace: &trace.Trace{Note: func(text string) { notes = append(notes, text) }},
	}
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp, strings.Join(notes, "\n")
}
