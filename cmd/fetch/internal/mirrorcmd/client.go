package mirrorcmd

import (
	"context"
	"fmt"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// openClient returns the Client of the mirror, and the marks that record the
// last article retrieved from each newsgroup.
func (c *mirrorCommand) openClient(ctx context.Context, seeds seedList,
	report *mirrorReport) (*clientflags.OpenClient, *nntp.Marks, error) {
	all, err := c.client.Schemes()
	if err != nil {
		return nil, nil, err
	}
	all.NNTP.Marks = &nntp.Marks{}
	all.WAIS.All, all.FTP.Hidden = true, true
	all.HTTP.KeepCompressed = true
	var entered []uri.URI // credentials are sent only to servers that the user entered
	if seeds.source == userSeeds {
		entered = seeds.urls
	}
	credentials, err := newSeedCredentials(entered, &c.client.HTTP)
	if err != nil {
		return nil, nil, err
	}
	standard := wrap.Options{Retry: c.client.Retry.Options(c.noteRetry(report)), Rate: int64(c.client.Limits.Rate)}
	if report.shows {
		standard.Progress = report.crawl.UpdateBody
	}
	client, err := c.client.Open(ctx, c.Streams, clientflags.Spec{
		Schemes:     all,
		Middlewares: []fetch.Middleware{credentials.middleware, c.noteTrustFlags()},
		Standard:    standard,
		LoginServer: credentials.isSeed,
	})
	if err != nil {
		return nil, nil, err
	}
	credentials.logins = client.Logins
	if err := client.Logins.PromptFor(ctx, client.Client, entered); err != nil {
		client.Close()
		return nil, nil, err
	}
	return client, all.NNTP.Marks, nil
}

// noteRetry returns a function that counts a retry. If -v or --error-json is
// set, it also prints a note. Otherwise, only the final result of a URL is
// printed.
func (c *mirrorCommand) noteRetry(report *mirrorReport) func(context.Context, wrap.Attempt) {
	return func(_ context.Context, t wrap.Attempt) {
		report.crawl.Retry()
		if c.Verbose || c.ErrorJSON || c.Log != nil {
			c.Streams.NoteRetry(t, fmt.Errorf("%s: %w", t.Request.URL, t.Err), t.Count+1, t.Count+t.Remaining)
		}
	}
}

// noteTrustFlags returns a middleware that prints a hint about --cacert and -k
// when a certificate cannot be verified. The hint is printed only once.
func (c *mirrorCommand) noteTrustFlags() fetch.Middleware {
	var once sync.Once
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			resp, err := next.Do(ctx, req)
			if err != nil && console.Remedy(err) == console.TrustFlags {
				once.Do(func() { c.Note("to trust the server: %s", console.TrustFlags) })
			}
			return resp, err
		})
	}
}
