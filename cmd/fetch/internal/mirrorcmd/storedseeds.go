package mirrorcmd

import (
	"context"
	"errors"

	"github.com/anyurl/fetch/cmd/fetch/internal/foreignflags"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// maxJudged is the number of servers whose seeds are judged before a run.
const maxJudged = 20

// checkStoredSeeds returns an error if the policy denies a seed of options.json,
// which can come from a stranger. A run would leave the seed pending, so that a
// complete archive would become incomplete. checkStoredSeeds sends no request and
// writes no file. The error names the command with which the user enters the
// seeds.
func (c *mirrorCommand) checkStoredSeeds(ctx context.Context, seeds seedList) error {
	if seeds.source != archiveSeeds || c.replays() {
		return nil
	}
	client, err := c.client.OpenJudge(ctx, c.Streams)
	if err != nil {
		return err
	}
	defer client.Close()
	judged := map[string]bool{}
	for _, u := range seeds.urls {
		authority, _ := u.Authority()
		server := u.Scheme() + "://" + authority
		if judged[server] || len(judged) == maxJudged {
			continue
		}
		judged[server] = true
		// Stat of some schemes, such as gopher, needs no connection.
		resp, err := client.Do(ctx, &fetch.Request{URL: u, Op: fetch.Get, From: mirror.Stranger(u)})
		if err == nil {
			resp.Body.Close()
			continue
		}
		if refusal, denied := errors.AsType[*fetch.Refusal](err); denied {
			return fetch.FaultOf(err).Errorf("seed of options.json: %s: %w; nothing was changed; the policy trusts only URLs of the command line: %s",
				u, refusal, c.trustCommand(seeds.urls))
		}
	}
	return nil
}

// maxTrusted is the number of seeds in a suggested command.
const maxTrusted = 10

// trustCommand returns the command that repeats the run of the archive with its
// seeds on the command line.
func (c *mirrorCommand) trustCommand(seeds []uri.URI) string {
	words := append([]string{"fetch", "mirror", "--output-dir", c.outputDir}, c.storedWords...)
	if len(seeds) > maxTrusted {
		return foreignflags.Quote(words) + " URL..."
	}
	for _, u := range seeds {
		words = append(words, u.String())
	}
	return foreignflags.Quote(words)
}
