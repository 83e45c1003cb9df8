// Package recordcmd implements fetch record, a proxy that records the requests
// of a browser or another program in WARC files.
package recordcmd

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/dedup"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/internal/wire/mitm"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
	"github.com/anyurl/fetch/warc/zst"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A recordCommand runs a proxy that records the requests of its clients.
type recordCommand struct {
	*console.Streams
	listen     string
	public     bool
	output     outputFlags
	access     accessFlags
	maxRequest options.Bytes
	client     clientflags.Flags
}

func New(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "record [flags]",
		Short: "Record the requests of a browser in WARC files, as its proxy",
		Long: `record is a proxy for http and https. It records the requests of the programs that
use it, and the responses, in WARC files. A browser or another program sends its requests
through it, and must trust the CA of the proxy, whose certificate --ca-out writes. The
proxy listens on a loopback address, unless --public permits other machines. SIGINT,
SIGTERM and SIGHUP end the proxy after the running requests.

Requests are treated as links from an unknown public page, so that they cannot reach
private networks or this machine. A request that contains the token of the proxy, and
comes from this machine, is treated like a URL that you enter. The proxy prints an
address with the token at its start. A refused request receives a page with the rule.
WebSocket connections are refused, because they cannot be recorded.`,
		Example: command.Examples("fetch record --warc visit.warc.gz --ca-out ca.pem",
			"fetch record --output-dir crawl --warc-size 500M",
			"fetch record --listen 127.0.0.1:8801 --token-file token --warc test.warc.gz"),
	}, &recordCommand{Streams: r.Streams})
}

func (c *recordCommand) Register(s *options.Set) {
	p := s.Own("Flags")
	p.StringVar(&c.listen, "listen", "127.0.0.1:8800", "listen on the address and port `ADDRESS`")
	p.BoolVar(&c.public, "public", false, "also serve other machines, which must send the token")
	c.output.register(p)
	c.access.register(p)
	p.Var(&c.maxRequest, "max-request", "refuse requests with a body of more than `BYTES` (default 268435456)")
	c.client.RegisterTransport(s)
}

// maxClient is the maximum number of open connections of a client with --public, and
// of its running requests. A client without the token could otherwise use all
// connections, and a slow one all requests. A browser opens at most 32
// connections to a proxy.
const maxClient = 64

// recordGrace is the time after a signal in which running requests can finish.
const recordGrace = 10 * time.Second

func (c *recordCommand) Run(ctx context.Context, args []string) (err error) {
	defer console.SaveMemory(48 << 20)()
	if len(args) > 0 {
		return fetch.Usage.Errorf("record has no arguments: its clients send the URLs")
	}
	if err := c.output.check(); err != nil {
		return err
	}
	l, err := c.open()
	if err != nil {
		return err
	}
	defer l.Close()
	ca, err := c.access.openCA()
	if err != nil {
		return err
	}
	token, err := c.access.openToken()
	if err != nil {
		return err
	}
	client, err := c.openClient(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	known, err := c.output.openDedup(ctx, client.Client)
	if err != nil {
		return err
	}
	defer known.Close()
	files, err := c.output.open()
	if err != nil {
		return err
	}
	for _, name := range files.Resumed {
		c.Note("%s: continued after an interrupted run", name)
	}
	writer := capture.NewWriter(files.Writer, capture.WriterOptions{Sync: c.output.sync, Age: time.Duration(c.output.age), Dedup: known})
	defer func() {
		failed := writer.Err()
		err = errors.Join(err, fetch.LocalError(failed), files.Close(failed))
		n := writer.Counts()
		c.Note("recorded %d responses (%d of them repeated, %d bytes) and %d failed requests", n.Exchanges, n.Revisits, n.Bytes, n.Failed)
	}()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	store := func(ctx context.Context, x *capture.Exchange) error {
		err := writer.Store(ctx, x)
		if err != nil {
			stop() // no further exchange can be recorded
		}
		return err
	}
	requests := newRefusalLog(c.Streams)
	h := &capture.Handler{
		Client: client.Client, Record: record.Options{TempDir: c.output.folder()}, MaxRequest: int64(c.maxRequest),
		From: token.source, Store: store, Note: requests.failed,
	}
	server := &mitm.Server{
		CA: ca, Handler: h, Own: ownPages(ca), Refused: requests.refused,
		ErrorLog: log.New(console.NoteWriter{Streams: c.Streams}, "", 0),
	}
	if c.public {
		server.Authorize, server.MaxClient = token.permits, maxClient
	}
	c.announce(l.Addr(), ca, token)
	c.Interrupts.SetGrace(recordGrace)
	return serve(ctx, server, l)
}

func serve(ctx context.Context, server *mitm.Server, l net.Listener) error {
	switch err := server.Serve(ctx, l, recordGrace); {
	case err != nil && ctx.Err() != nil:
		return fetch.Timeout.With(err)
	default:
		return fetch.LocalError(err)
	}
}

// open listens on the address. Without --public, it accepts only a loopback
// address.
func (c *recordCommand) open() (net.Listener, error) {
	if c.public {
		return gateway.ListenPublic(c.listen)
	}
	l, err := gateway.Listen(c.listen)
	if errors.Is(err, fetch.Usage) {
		return nil, fetch.Usage.Errorf("--listen %s: other addresses than loopback require --public", c.listen)
	}
	return l, err
}

// openClient returns the Client that sends the requests. It has no middlewares
// that change requests, and no logins and cookies: the clients have their own.
func (c *recordCommand) openClient(ctx context.Context) (*clientflags.OpenClient, error) {
	spec := clientflags.Spec{Logins: &clientflags.Logins{Streams: c.Streams, Silent: true}}
	spec.Standard.Rate = int64(c.client.Limits.Rate)
	return c.client.Open(ctx, c.Streams, spec)
}

// announce prints the addresses of the proxy and the place of its certificate.
func (c *recordCommand) announce(listener net.Addr, ca *mitm.CA, t *token) {
	addr := listener.String()
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().IsUnspecified() {
		addr = fmt.Sprintf("localhost:%d", at.Port())
	}
	c.Note("the proxy is at http://%s, its CA is %q", addr, ca.Name())
	if c.access.tokenFile == "" {
		c.NoteUnredacted(fmt.Sprintf("for requests to private networks and to this machine: http://fetch:%s@%s", t.text, addr))
	}
}

// outputFlags are the flags that name the WARC files.
type outputFlags struct {
	warc, dir, prefix string
	size              options.Bytes
	age               options.Interval
	sync              bool
	dedup             string // CDXJ index of other archives, or ""
}

func (f *outputFlags) register(p *pflag.FlagSet) {
	p.StringVar(&f.warc, "warc", "", "write the new WARC file `FILE`")
	p.StringVarP(&f.dir, "output-dir", "P", "", "write WARC files to `DIR`")
	p.StringVar(&f.prefix, "warc-prefix", "", "with --output-dir, start the names of files with `NAME` (default fetch)")
	p.Var(&f.size, "warc-size", "with --output-dir, start a new WARC file after `BYTES` (default 1000000000)")
	p.Var(&f.age, "warc-time", "with --output-dir, also start a new WARC file after `TIME`, such as 30m")
	p.StringVar(&f.dedup, "dedup", "", "write revisit records for responses that the index `CDXJ` lists")
	p.BoolVar(&f.sync, "sync", false, "write each response to the disk before its client receives the end")
}

func (f *outputFlags) check() error {
	switch {
	case (f.warc == "") == (f.dir == ""):
		return fetch.Usage.Errorf("record requires either --warc FILE or --output-dir DIR")
	case f.warc != "" && !arguments.IsNewWARC(f.warc):
		return fetch.Usage.Errorf("--warc requires a name that ends in .warc, .warc.gz or .warc.zst, such as %q", f.warc+".warc.gz")
	case f.warc != "" && (f.size != 0 || f.age != 0 || f.prefix != ""):
		return fetch.Usage.Errorf("--warc-size, --warc-time and --warc-prefix require --output-dir, because --warc names a single file")
	}
	return nil
}

// folder returns the directory of the WARC files.
func (f *outputFlags) folder() string {
	if f.dir != "" {
		return f.dir
	}
	return filepath.Dir(f.warc)
}

// openDedup opens the index of --dedup. The result is nil without the flag.
func (f *outputFlags) openDedup(ctx context.Context, client *fetch.Client) (x *warc.IndexFile, err error) {
	if f.dedup == "" {
		return x, nil
	}
	if x, err = dedup.Open(ctx, client, f.dedup); err != nil {
		return x, fmt.Errorf("--dedup: %w", err)
	}
	return x, nil
}

// open opens the WARC files.
func (f *outputFlags) open() (_ *capture.Files, err error) {
	o := warc.Options{MaxSize: int64(f.size), Prefix: f.prefix}
	if f.warc != "" {
		o.Name = filepath.Base(f.warc)
	}
	if strings.HasSuffix(f.warc, ".zst") {
		if o.Zstd, err = zst.New(); err != nil {
			return nil, err
		}
	}
	host, _ := os.Hostname()
	for _, field := range []fetch.Field{{Name: "software", Value: console.Product()}, {Name: "hostname", Value: host}} {
		if field.Value != "" {
			o.Info = append(o.Info, field)
		}
	}
	o.Info = append(o.Info, fetch.Field{Name: "description", Value: "requests of the clients of a recording proxy"})
	return capture.OpenFiles(f.folder(), o)
}
