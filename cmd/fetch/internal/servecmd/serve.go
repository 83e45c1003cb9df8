// Package servecmd implements fetch serve, which shows URLs and archives in a
// web browser.
package servecmd

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/warc/textindex"
	"github.com/spf13/cobra"
)

// A serveCommand runs a web server that shows archives and URLs of all schemes.
type serveCommand struct {
	*console.Streams
	listen, base string
	hosts        []string
	scripts      serveScriptsFlags
	public       servePublicFlags
	live         serveLiveFlags
}

func New(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "serve [flags] [DIR|FILE|STORE-URL...]",
		Short: "Show URLs and archives in a web browser",
		Long: `serve is a web server that shows URLs of all schemes as pages: gopher menus,
directories, newsgroups, articles. With archives of fetch mirror --warc, or WARC or WACZ
files, it shows their captures, and retrieves URLs from the network only with --live.
It listens on a loopback address, unless --public permits other machines. SIGINT, SIGTERM
and SIGHUP end the server after the running requests.

A URL of a private network or of this machine needs a confirmation in the browser, or
--allow-host. Files, mailboxes, logins and client certificates need the address with the
token that the server prints. Pages that need a password ask for it in a form.`,
		Example: command.Examples("fetch serve", "fetch serve --live=gopher,ftp --allow-host 192.168.1.0/24", "fetch serve gopher.example.org",
			"fetch serve --listen 127.0.0.1:8080 example.wacz crawl.warc.gz"),
	}, &serveCommand{Streams: r.Streams})
}

func (c *serveCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.StringVar(&c.listen, "listen", "127.0.0.1:8700", "listen on the address and port `ADDRESS`")
	p.StringArrayVar(&c.hosts, "host", nil, "also answer requests for the host `NAME`, for a reverse proxy")
	p.StringVar(&c.base, "base", "", "prefix the path of every page with `PATH`, for a reverse proxy")
	c.scripts.Register(s)
	c.public.Register(s)
	c.live.Register(s)
}

// serveGrace is the time after a signal in which running requests can finish.
const serveGrace = 10 * time.Second

func (c *serveCommand) Run(ctx context.Context, args []string) error {
	defer console.SaveMemory(96 << 20)()
	opts := gateway.Options{Hosts: c.hosts, Base: c.base, Schemes: schemes.All(schemes.Options{})}
	if c.public.public && len(args) == 0 && c.live.live == "" {
		return fetch.Usage.Errorf("--public without archives requires --live=SCHEMES")
	}
	if err := c.scripts.check(len(args), c.public.public); err != nil {
		return err
	}
	live, err := c.live.options(ctx, c.Streams, len(args))
	if err != nil {
		return err
	}
	opts.Live = live
	defer func() {
		for _, a := range opts.Archives {
			if a.Text != nil {
				a.Text.Close()
			}
			a.Source.Close()
		}
	}()
	for _, name := range args {
		a, err := c.open(ctx, name)
		if err != nil {
			return err
		}
		opts.Archives = append(opts.Archives, a)
	}
	if err := c.public.apply(&opts); err != nil {
		return err
	}
	l, err := c.public.open(c.listen)
	if err != nil {
		return err
	}
	defer l.Close()
	opts.Address, opts.ErrorLog = l.Addr(), log.New(console.NoteWriter{Streams: c.Streams}, "", 0)
	scripts, err := c.scripts.open(c.Streams, &opts)
	if err != nil {
		return err
	}
	if scripts != nil {
		defer scripts.listener.Close()
	}
	h, err := gateway.New(opts)
	if err != nil {
		return err
	}
	defer h.Close()
	what := "archives are"
	if live != nil {
		what = "gateway is"
	}
	server := ServerURL(l.Addr())
	c.Note("the "+what+" at %s%s/", server, strings.TrimSuffix(c.base, "/"))
	if path := h.TokenPath(); path != "" {
		c.NoteUnredacted("for your files, mailboxes and logins, open " + server + path)
	}
	c.Interrupts.SetGrace(serveGrace)
	return c.serveBrowser(ctx, opts.Archives, func(ctx context.Context) error { return c.serveBoth(ctx, h, l, scripts) })
}

// ServerURL returns the URL of a listener without a path. The host is localhost
// if the server listens on all addresses.
func ServerURL(listener net.Addr) string {
	text := listener.String()
	if at, err := netip.ParseAddrPort(text); err == nil && at.Addr().IsUnspecified() {
		text = fmt.Sprintf("localhost:%d", at.Port())
	}
	return "http://" + text
}

// open opens an archive. It sets the seeds and the reports only for the
// directory of a mirror.
func (c *serveCommand) open(ctx context.Context, name string) (a gateway.Archive, err error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return a, fetch.Local.With(err)
	}
	if a.Source, err = clientflags.OpenArchives(c.Streams, ctx, name); err != nil {
		return a, err
	}
	a.Name = filepath.Base(path)
	if clientflags.IsStore(name) {
		name, _, _ = strings.Cut(name, "?")
		a.Name = filepath.Base(name)
		return a, nil
	}
	a.Text = textindex.New(textindex.PathOf(name), a.Source, console.SchemeByName())
	if _, err := os.Stat(filepath.Join(name, "fetch.db")); err != nil {
		return a, nil
	}
	if a.Seeds, err = mirror.Open(mirror.Location{Dir: name}).Seeds(ctx); err != nil {
		c.Note("%s: the start URLs cannot be read: %v", name, err)
	}
	a.Report, a.Options = c.readReport(name, "report.json", maxReport), c.readReport(name, "options.json", maxOptions)
	a.Runs = func(ctx context.Context) ([]gateway.Run, bool, error) { return pastRuns(ctx, name) }
	a.Failures = func(ctx context.Context) iter.Seq2[gateway.Failure, error] { return failures(ctx, name) }
	return a, nil
}

// maxVisits limits the number of lines of crawl.jsonl that pastRuns reads.
const maxVisits = 2_000_000

// pastRuns returns the results of each run of the mirror in dir. It reports
// whether it has read all of crawl.jsonl.
func pastRuns(ctx context.Context, dir string) (runs []gateway.Run, complete bool, err error) {
	all, complete, err := mirror.Open(mirror.Location{Dir: dir}).Runs(ctx, maxVisits)
	for _, r := range all {
		runs = append(runs, gateway.Run{
			Number: r.Run, Started: r.Started, Ended: r.Ended, New: r.New, Unchanged: r.Unchanged, Gone: r.Gone,
			Failed: r.Failed, Excluded: r.Excluded, Bytes: r.Bytes,
		})
	}
	return runs, complete, err
}

// failures returns the URLs that the mirror in dir could not retrieve,
// including those whose server could not be reached.
func failures(ctx context.Context, dir string) iter.Seq2[gateway.Failure, error] {
	return func(yield func(gateway.Failure, error) bool) {
		for l, err := range mirror.Open(mirror.Location{Dir: dir}).Dump(ctx, mirror.Dead, mirror.Pending) {
			if err == nil && l.State == mirror.Pending && l.Note == "" {
				continue // the URL was not requested yet
			}
			if !yield(gateway.Failure{URL: l.URL, Via: l.Via, Reason: l.Note}, err) || err != nil {
				return
			}
		}
	}
}

const (
	maxReport  = 1 << 20  // bytes of report.json, whose tables have few rows
	maxOptions = 16 << 20 // bytes of options.json, which has all seeds
)

// readReport returns the first limit bytes of report.json or options.json in dir, or
// nil if the file cannot be opened. The archive may come from an untrusted source, so
// readReport follows no link to a file outside of dir.
func (c *serveCommand) readReport(dir, name string, limit int64) []byte {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	f, err := regularfile.OpenIn(root, name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		c.Note("%s: %v", filepath.Join(dir, name), err)
	}
	return text
}
