package download

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// maxMatches limits the number of files that one wildcard selects, because they
// are kept in memory. maxMatchBytes limits the length of their URLs.
const (
	maxMatches    = 50_000
	maxMatchBytes = 16 << 20
)

// A wildcard selects the entries of a directory, such as *.tar.gz in
// ftp://h/pub/*.tar.gz. A "*" matches any characters.
type wildcard struct {
	Dir   arguments.Argument // the directory
	text  string             // last segment of the URL, as written
	parts []string           // decoded text between the "*"
}

// Wildcard returns the wildcard in the URL of the argument a, or nil if the URL
// has none. Only typed URLs of schemes with directories have wildcards: ftp,
// ftps, sftp, scp and file.
func (r *Retrieval) Wildcard(a arguments.Argument) (*wildcard, error) {
	if !a.Typed || r.flags.Input.GlobOff || !a.URL.IsZero() || !strings.Contains(a.Text, "*") {
		return nil, nil
	}
	u, changed, err := a.Parse(r.flags.Client.Policy.ProtoDefault)
	if err != nil {
		return nil, nil // the job reports the error
	}
	traits := r.Client.Scheme(u.Scheme()).Traits
	if !traits.ControlConn && !traits.Files {
		return nil, nil
	}
	n := strings.LastIndexByte(u.Path(), '/') + 1
	w := &wildcard{Dir: a, text: u.Path()[n:]}
	switch {
	case strings.Contains(u.Path()[:n], "*"):
		return nil, fetch.Usage.Errorf("%s: only the last part of a path can have the wildcard * (write %%2A for the "+
			"character, or use -g)", u)
	case !strings.Contains(w.text, "*"):
		return nil, nil
	case traits.ControlConn && strings.Contains(w.text, ";"):
		return nil, fetch.Usage.Errorf("%s: a wildcard excludes a parameter such as ;type=a", u)
	}
	if w.Dir.URL, err = u.WithoutQuery().WithoutFragment().WithPath(u.Path()[:n]); err != nil {
		return nil, fetch.BadURL.With(err)
	}
	for part := range strings.SplitSeq(w.text, "*") {
		part, err := uri.Unescape(part)
		if err != nil {
			return nil, fetch.BadURL.With(err)
		}
		w.parts = append(w.parts, part)
	}
	if changed && !a.Quiet {
		r.Note("the URL is taken for %s", u)
	}
	return w, nil
}

// matches reports whether e is a direct entry of the directory and its name
// matches. As in a shell, a name that begins with a dot matches only a wildcard
// that begins with a dot.
func (w *wildcard) matches(e fetch.Entry) bool {
	if e.URL.IsZero() || e.Kind == fetch.Info {
		return false
	}
	segment, ok := strings.CutPrefix(e.URL.Path(), w.Dir.URL.Path())
	segment = strings.TrimSuffix(segment, "/")
	name, err := uri.Unescape(segment)
	if !ok || err != nil || strings.Contains(name, "/") || strings.HasPrefix(name, ".") && w.parts[0] == "" {
		return false
	}
	return w.matchesName(name)
}

func (w *wildcard) matchesName(name string) bool {
	last := len(w.parts) - 1
	name, ok := strings.CutPrefix(name, w.parts[0])
	if !ok {
		return false
	}
	if name, ok = strings.CutSuffix(name, w.parts[last]); !ok {
		return false
	}
	for _, part := range w.parts[1:last] {
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
	}
	return true
}

// listRequest returns a request that lists the directory of w.
func (r *Retrieval) listRequest(w *wildcard) (*fetch.Request, error) {
	req, err := r.NewRequest(w.Dir)
	if err != nil {
		return nil, err
	}
	return &fetch.Request{URL: req.URL, Auth: req.Auth, Header: req.Header, Trace: req.Trace}, nil
}

// noMatch returns the error for a wildcard that matches no entry.
func (w *wildcard) noMatch() error {
	return fetch.NotFound.Errorf("no entry of %s matches %s", w.Dir.URL, w.text)
}

// expandWildcard returns an argument for each file that matches the wildcard in
// a URL. It returns nil if the URL has no wildcard, or if the command lists the
// directory.
func (r *Retrieval) expandWildcard(ctx context.Context, a arguments.Argument) ([]arguments.Argument, error) {
	if r.listing {
		return nil, nil
	}
	w, err := r.Wildcard(a)
	if w == nil || err != nil {
		return nil, err
	}
	return r.expand(ctx, w)
}

// entries filters a listing. It returns the entries that match w, or an error
// if none match. If w is nil, it returns all entries.
func (w *wildcard) entries(all iter.Seq2[fetch.Entry, error]) iter.Seq2[fetch.Entry, error] {
	if w == nil {
		return all
	}
	return func(yield func(fetch.Entry, error) bool) {
		found := false
		for e, err := range all {
			if err == nil && !w.matches(e) {
				continue
			}
			if found = true; !yield(e, err) {
				return
			}
		}
		if !found {
			yield(fetch.Entry{}, w.noMatch())
		}
	}
}

// expand returns an argument for each file that matches w. As in lftp's mget,
// directories are skipped.
func (r *Retrieval) expand(ctx context.Context, w *wildcard) (all []arguments.Argument, err error) {
	if limit := time.Duration(r.flags.Client.Limits.MaxTime); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit,
			fetch.Timeout.Errorf("the listing took longer than %v (--max-time)", limit))
		defer cancel()
	}
	req, err := r.listRequest(w)
	if err != nil {
		return nil, err
	}
	resp, err := r.Client.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	size, dirs := 0, 0
	for e, err := range resp.Entries() {
		if err != nil {
			return nil, err
		}
		if !w.matches(e) {
			continue
		}
		if e.Kind == fetch.Menu {
			dirs++
			continue
		}
		e.Raw, e.Extra = "", nil // to use less memory
		a := w.Dir
		a.URL, a.Request = e.URL, e.Request
		all = append(all, a)
		if size += len(e.URL.Unredacted()); len(all) > maxMatches || size > maxMatchBytes {
			return nil, fetch.TooLarge.Errorf("%s: more than %d files match %s", w.Dir.URL, len(all)-1, w.text)
		}
	}
	switch {
	case len(all) == 0 && dirs > 0:
		return nil, fetch.NotFound.Errorf("only directories in %s match %s", w.Dir.URL, w.text)
	case len(all) == 0:
		return nil, w.noMatch()
	}
	return all, r.flags.CheckSharedOutput(w.Dir.Index, int64(len(all)), "use -O or --output-dir")
}
