package servecmd

import (
	"context"
	"log"
	"os"
	"runtime"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/gateway/replay"
	"github.com/anyurl/fetch/internal/base/chromium"
	"github.com/anyurl/fetch/internal/wire/mitm"
)

// A replayBrowser is a Chromium whose only network is a proxy that answers from
// archives. The certificates of the proxy are valid only in this browser.
type replayBrowser struct {
	process *chromium.Process
	served  chan error
	cancel  context.CancelFunc
}

// openBrowser starts a browser. The caller must call Close.
func openBrowser(ctx context.Context, s *console.Streams, o chromium.Options, archives []gateway.Archive) (*replayBrowser, error) {
	ca, err := mitm.NewCA(time.Now())
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	o.Listeners, o.DefaultProxy, o.Child, o.KeyHash = 1, true, true, ca.KeyHash()
	process, err := chromium.Start(o)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	p := new(replay.Proxy)
	for _, a := range archives {
		p.Archives = append(p.Archives, replay.Archive{Name: a.Name, Source: a.Source})
	}
	server := &mitm.Server{CA: ca, Handler: p, ErrorLog: log.New(console.NoteWriter{Streams: s}, "", 0)}
	b := &replayBrowser{process: process, served: make(chan error, 1)}
	ctx, b.cancel = context.WithCancel(ctx)
	go func() { b.served <- server.Serve(ctx, process.Listeners[0], 0) }()
	return b, nil
}

// Close ends the browser and its proxy.
func (b *replayBrowser) Close() {
	b.process.Close()
	b.cancel()
	<-b.served // the browser has ended, so an error has no effect
}

// serveBrowser calls serve, and shows the archives in a browser with a window. It
// returns when the user closes the browser, or when serve returns.
func (c *serveCommand) serveBrowser(ctx context.Context, archives []gateway.Archive, serve func(context.Context) error) error {
	if c.scripts.scripts != scriptsBrowser {
		return serve(ctx)
	}
	if err := checkScreen(); err != nil {
		return err
	}
	b, err := openBrowser(ctx, c.Streams, chromium.Options{Headed: true, Args: []string{replay.StartURL}}, archives)
	if err != nil {
		return err
	}
	defer b.Close()
	if !b.process.Isolated {
		c.Note("on this system, only the flags of the browser keep it from the network: open only archives that you trust")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-b.process.Ended():
			c.Note("the browser has ended")
			cancel()
		case <-ctx.Done():
		}
	}()
	err = serve(ctx)
	cancel()
	<-watched
	return err
}

// checkScreen returns an error if programs cannot open a window.
func checkScreen() error {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return fetch.Usage.Errorf("--scripts=browser needs a screen: neither DISPLAY nor WAYLAND_DISPLAY is set")
	}
	return nil
}
