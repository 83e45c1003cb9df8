package mail

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A store is a searchable collection of mail messages, for example a Maildir.
type store interface {
	// find returns the message with the given Message-ID, which includes angle
	// brackets. The response has the media type messageMedia. If the store does
	// not contain the message, find returns a fetch.NotFound error.
	find(ctx context.Context, req *fetch.Request, id string) (*fetch.Response, error)
	// matching iterates over the messages from or to any of the wanted
	// addresses.
	matching(ctx context.Context, req *fetch.Request, wanted addressSet) iter.Seq2[storedMessage, error]
}

// A storedMessage is a message in a store, with its listing entry.
type storedMessage struct {
	fetch.Entry
	open func() (io.ReadCloser, error) // opens the content; must not be called after the next iteration
}

// stores returns a store for each element of Options.Stores, in the same order.
func (o Options) stores(env fetch.Env) (all []store, err error) {
	if len(o.Stores) == 0 {
		return nil, needOption(fetch.Unsupported.Errorf("no mail store is configured"), OverrideStores, "")
	}
	for _, text := range o.Stores {
		s, err := o.store(text, env)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (o Options) store(text string, env fetch.Env) (store, error) {
	if u, ok := parseIMAPStore(text); ok {
		return o.newIMAPStore(u, env)
	}
	path := text
	if rest, ok := strings.CutPrefix(text, "file://"); ok {
		var err error
		if path, err = uri.Unescape(strings.TrimPrefix(rest, "localhost")); err != nil {
			return nil, fetch.Usage.Errorf("mail store %q: %w", text, err)
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fetch.Local.With(err)
	case info.IsDir():
		return newMaildir(path), nil
	case !info.Mode().IsRegular():
		return nil, fetch.Local.Errorf("mail store %s is neither a file nor a directory", path)
	}
	return newMbox(path), nil
}

// parseIMAPStore parses text as a URL. It reports whether text is an imap or
// imaps URL.
func parseIMAPStore(text string) (uri.URI, bool) {
	u, err := uri.ParseZone(text)
	return u, err == nil && (u.Scheme() == "imap" || u.Scheme() == "imaps")
}

// storeAddresses returns the addresses of the IMAP servers in Options.Stores.
func (o Options) storeAddresses() (addresses []string) {
	for _, text := range o.Stores {
		if u, ok := parseIMAPStore(text); ok {
			if t, err := fetch.TargetOf(u, portOf(u)); err == nil && t.Host != "" {
				addresses = append(addresses, t.Address())
			}
		}
	}
	return addresses
}

func portOf(u uri.URI) uint16 {
	if u.Scheme() == "imaps" {
		return tlsPort
	}
	return plaintextPort
}
