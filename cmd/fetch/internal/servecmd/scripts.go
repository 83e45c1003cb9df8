package servecmd

import (
	"context"
	"errors"
	"log"
	"net"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/gateway/replay"
	"github.com/anyurl/fetch/schemes"
	"github.com/spf13/pflag"
)

// serveScriptsFlags are the flags of fetch serve for the scripts of archived
// pages.
type serveScriptsFlags struct {
	scripts string // "", scriptsHosts or scriptsBrowser
	listen  string
	flags   *pflag.FlagSet
}

func (f *serveScriptsFlags) Register(s *options.Set) {
	p := s.Own("Flags")
	f.flags = p
	p.StringVar(&f.scripts, "scripts", "", "run archived scripts at `PLACE`: localhost or browser")
	p.Lookup("scripts").NoOptDefVal = scriptsHosts
	options.SetValues(p.Lookup("scripts"), scriptsHosts, scriptsBrowser)
	p.StringVar(&f.listen, "scripts-listen", "127.0.0.1:8701", "listen on `ADDRESS` for --scripts=localhost")
}

// The values of --scripts.
const (
	scriptsHosts   = "localhost" // at host names below localhost, in the browser of the user
	scriptsBrowser = "browser"   // in a browser that the command starts
)

// check returns an error if the flags do not fit to the others.
func (f *serveScriptsFlags) check(archives int, public bool) error {
	switch f.scripts { // the values of a switch, which configuration files may contain
	case "true":
		f.scripts = scriptsHosts
	case "false":
		f.scripts = ""
	}
	switch {
	case f.scripts != scriptsHosts && f.flags.Changed("scripts-listen"):
		return fetch.Usage.Errorf("--scripts-listen requires --scripts=localhost")
	case f.scripts == "":
		return nil
	case f.scripts != scriptsHosts && f.scripts != scriptsBrowser:
		return fetch.Usage.Errorf("--scripts=%s: the values are localhost and browser", f.scripts)
	case public:
		return fetch.Usage.Errorf("--scripts cannot be combined with --public: scripts run only in a browser on this machine")
	case archives == 0:
		return fetch.Usage.Errorf("--scripts requires an archive")
	}
	return nil
}

// A scriptsServer shows archived pages with their scripts.
type scriptsServer struct {
	site     *replay.Site
	listener net.Listener
}

// open opens the server for the archives in opts, and links to its pages. It
// returns nil without --scripts.
func (f *serveScriptsFlags) open(s *console.Streams, opts *gateway.Options) (*scriptsServer, error) {
	if f.scripts != scriptsHosts {
		return nil, nil
	}
	l, err := gateway.Listen(f.listen)
	if err != nil {
		return nil, err
	}
	o := replay.Options{
		Address: l.Addr(), Schemes: schemes.All(schemes.Options{}), Home: ServerURL(opts.Address) + strings.TrimSuffix(opts.Base, "/") + "/",
		ErrorLog: log.New(console.NoteWriter{Streams: s}, "", 0),
	}
	for _, a := range opts.Archives {
		o.Archives = append(o.Archives, replay.Archive{Name: a.Name, Source: a.Source})
	}
	site, err := replay.NewSite(o)
	if err != nil {
		l.Close()
		return nil, err
	}
	opts.ScriptsPage = site.PageURL
	s.Note("archived pages have a link to a page with their scripts: use it only for archives that you trust")
	return &scriptsServer{site, l}, nil
}

// serveBoth serves the gateway and the scriptsServer, which may be nil, until ctx
// ends or one of them fails.
func (c *serveCommand) serveBoth(ctx context.Context, h *gateway.Handler, l net.Listener, scripts *scriptsServer) error {
	if scripts == nil {
		return h.Serve(ctx, l, serveGrace)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() {
		defer cancel()
		served <- scripts.site.Serve(ctx, scripts.listener, serveGrace)
	}()
	err := h.Serve(ctx, l, serveGrace)
	cancel()
	return errors.Join(err, <-served)
}
