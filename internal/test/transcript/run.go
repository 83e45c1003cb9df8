package transcript

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// A Kit holds the settings for all transcripts of a package.
type Kit struct {
	Port    int                                          // port of the server
	Schemes func(options []byte) ([]fetch.Scheme, error) // see SchemesOf
	Phrases map[string]string                            // named steps that conversations share
	Goodbye string                                       // bytes that the client may send at the end of a connection
}

// Server is the address of the server in all transcripts.
const Server = "192.0.2.1"

// SchemesOf returns a function for Kit.Schemes. The function decodes options
// from JSON and passes them to schemes.
func SchemesOf[Options any](schemes func(Options) []fetch.Scheme) func([]byte) ([]fetch.Scheme, error) {
	return func(text []byte) ([]fetch.Scheme, error) {
		var options Options
		if text != nil {
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			if err := d.Decode(&options); err != nil {
				return nil, err
			}
		}
		return schemes(options), nil
	}
}

// Run replays each transcript in testdata as a subtest.
func (k Kit) Run(t *testing.T) {
	files, err := names()
	if err != nil {
		t.Fatal(err)
	}
	talk := Talk{Phrases: k.Phrases, Certs: faultnet.NewCerts(t, Server)}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				for _, err := range k.replay(t, archive, talk) {
					t.Error(err)
				}
			})
		})
	}
}

// ServerTexts returns the text that the server sends in each conversation of
// testdata. Fuzz tests use these texts as seeds.
func (k Kit) ServerTexts(t testing.TB) (all []string) {
	t.Helper()
	files, err := names()
	if err != nil {
		t.Fatal(err)
	}
	talk := Talk{Phrases: k.Phrases, Certs: faultnet.NewCerts(t, Server)}
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parseFile(archive, talk, k.Port)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, port := range slices.Sorted(maps.Keys(f.talks)) {
			for _, c := range f.talks[port] {
				all = append(all, c.Said)
			}
		}
	}
	return all
}

// replay replays a transcript and returns all differences from the expected
// conversations, results and notes. It must run in a synctest bubble.
func (k Kit) replay(t *testing.T, archive *txtar.Archive, talk Talk) []error {
	f, err := parseFile(archive, talk, k.Port)
	if err != nil {
		return []error{err}
	}
	schemes, err := k.Schemes(f.options)
	if err != nil {
		return []error{fmt.Errorf("section options: %w", err)}
	}
	n := faultnet.NewNetwork(t)
	servers := f.serve(n)
	client := fetch.New(fetch.Options{
		Policy: f.policy, Dial: n.Dial, TLS: &tls.Config{RootCAs: talk.Certs.Pool}, Login: f.login,
	}, schemes...)
	defer synctest.Wait()
	defer client.Close()

	errs := f.sendRequests(t.Context(), client)
	client.Close()
	synctest.Wait()
	for _, s := range servers {
		errs = append(errs, s.check(k.Goodbye)...)
	}
	return errs
}

func (f *file) login(context.Context, fetch.Challenge) (*fetch.Credential, error) {
	if len(f.logins) == 0 {
		return nil, nil
	}
	user, password, _ := strings.Cut(f.logins[0], ":")
	f.logins = f.logins[1:]
	return &fetch.Credential{User: user, Password: fetch.Secret(password)}, nil
}

// sendRequests sends all requests of a transcript and compares the results and
// notes with the expected ones.
func (f *file) sendRequests(ctx context.Context, c *fetch.Client) (errs []error) {
	var notes strings.Builder
	for i, line := range f.requests {
		synctest.Wait() // wait for server steps that need no command
		got, err := sendRequest(ctx, c, line, func(s string) { fmt.Fprintln(&notes, s) })
		want := strings.Join(f.results[min(i, len(f.results)):min(i+1, len(f.results))], "")
		if err != nil {
			errs = append(errs, err)
		} else if !got.matches(want) {
			errs = append(errs, fmt.Errorf("%s\n got %s\nwant %s", line, got, want))
		}
	}
	if extra := len(f.results) - len(f.requests); extra > 0 {
		errs = append(errs, fmt.Errorf("%d results without a request", extra))
	}
	if notes.String() != f.notes {
		errs = append(errs, fmt.Errorf("notes\n got %s\nwant %s", notes.String(), f.notes))
	}
	return errs
}

// sendRequest sends the request that a line of the section "request" describes,
// and returns its result.
func sendRequest(ctx context.Context, c *fetch.Client, line string, note func(string)) (result, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return result{}, errors.New("a request has no URL")
	}
	u, err := fetch.ParseURL(words[0])
	if err != nil {
		return failure(err), nil
	}
	req := &fetch.Request{URL: u, Trace: &trace.Trace{Note: note}}
	list, err := parseConditions(req, words[1:])
	if err != nil {
		return result{}, err
	}
	return do(ctx, c, req, list), nil
}
