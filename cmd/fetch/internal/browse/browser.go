// Package browse implements a line-mode browser: it prints pages with numbered
// entries and reads commands, such as the number of an entry.
package browse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/page"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/crumbs"
	"github.com/anyurl/fetch/uri"
)

// A Browser reads commands and prints pages. All fields must be set, unless noted
// otherwise. A Browser is not safe for concurrent use.
type Browser struct {
	// Do sends a request.
	Do func(ctx context.Context, req *fetch.Request) (*fetch.Response, error)
	// Scheme returns the scheme with a name, or the zero Scheme.
	Scheme func(name string) fetch.Scheme
	// Typed returns a request for a URL that the user typed.
	Typed func(text string) (*fetch.Request, error)
	// Query returns the URL that searches an index for words.
	Query func(index uri.URI, words string) (uri.URI, error)
	// Session runs an interactive session, such as telnet, that reads its input
	// from in. It returns at the end of the session.
	Session func(ctx context.Context, in io.Reader, resp *fetch.Response) error
	// Save saves an object to a file, and returns a description of the result.
	// If name is "", the name of the file comes from the URL.
	Save func(ctx context.Context, req *fetch.Request, name string) (string, error)
	// Report prints an error.
	Report func(ctx context.Context, err error)
	// Pager displays the text that lines writes with another program. It is nil
	// if there is no such program.
	Pager func(ctx context.Context, lines func(io.Writer) error) error
	// OnInterrupt sets the function that Control-C calls; nil removes it.
	OnInterrupt func(func())

	In      *Input
	Out     io.Writer
	Size    func() (width, height int) // size of the terminal
	Color   bool                       // if true, listings have colors
	Palette listing.Palette            // colors of names
	Links   bool                       // if true, names in listings are hyperlinks
	Now     func() time.Time

	// If Interactive is true, input and output are a terminal. The Browser then
	// prints prompts, and pauses after each screen.
	Interactive bool

	history history
	view    *view
	shown   bool // a page has been printed

	mu     sync.Mutex
	cancel context.CancelCauseFunc // stops the operation in progress; nil at the prompt
	prompt string
}

// errStopped is the cause of a transfer that the user stopped.
var errStopped = errors.New("stopped")

// errQuit is returned by a command that ends the Browser.
var errQuit = errors.New("quit")

// Run opens a URL and then executes commands until the user quits or the input
// ends. If first is not nil, it is displayed instead of the URL. If url is "",
// Run starts without a page. Run returns an error only if reading or writing
// fails, or if ctx is canceled. The errors of requests are reported.
func (b *Browser) Run(ctx context.Context, url string, first *page.Page) error {
	b.OnInterrupt(b.interrupt)
	defer b.OnInterrupt(nil)
	defer b.closeView()
	var err error
	switch {
	case first != nil:
		err = b.display(ctx, visit{page: first})
	case url != "":
		err = b.execute(ctx, command{name: "go", text: url})
	}
	for err == nil {
		b.printPrompt()
		var line string
		if line, err = b.In.readLine(ctx); err != nil {
			break
		}
		c, failed := parseCommand(line)
		if failed != nil {
			b.Report(ctx, failed)
			continue
		}
		err = b.execute(ctx, c)
	}
	if err == io.EOF && b.Interactive {
		fmt.Fprintln(b.Out)
	}
	if err == io.EOF || err == errQuit {
		return nil
	}
	return err
}

// interrupt stops the operation in progress. At the prompt, it prints the prompt
// again.
func (b *Browser) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		b.cancel(errStopped)
		return
	}
	if b.Interactive {
		fmt.Fprint(b.Out, "\nType q to quit.\n", b.prompt)
	}
}

// printPrompt prints the commands that are possible now.
func (b *Browser) printPrompt() {
	if !b.Interactive {
		return
	}
	var parts []string
	add := func(text string, ok bool) {
		if ok {
			parts = append(parts, text)
		}
	}
	v := b.history.current()
	add("Return for more", b.view != nil && b.view.more)
	if v != nil && v.page != nil {
		n := v.page.Len()
		add("1", n == 1)
		add(fmt.Sprintf("1-%d", n), n > 1)
		add("/WORDS", b.searchable(v.page))
		add("Up", len(b.above(v.page)) > 0)
	}
	_, back := b.history.neighbor(-1)
	_, forward := b.history.neighbor(1)
	add("Back", back)
	add("Forward", forward)
	prompt := strings.Join(append(parts, "Quit"), ", ") + " or Help: "
	b.mu.Lock()
	b.prompt = prompt
	b.mu.Unlock()
	fmt.Fprint(b.Out, prompt)
}

func (b *Browser) searchable(p *page.Page) bool {
	_, err := b.Query(p.URL, "x")
	return err == nil
}

// execute runs a command. It reports the errors of requests, and returns only
// errors that end the Browser.
func (b *Browser) execute(ctx context.Context, c command) error {
	err := b.transfer(ctx, func(ctx context.Context) error { return b.command(ctx, c) })
	switch {
	case err == nil || err == errQuit || isOutputError(err) || ctx.Err() != nil:
		return err
	case errors.Is(err, errStopped):
		err = errors.New("stopped")
	}
	b.Report(ctx, err)
	if fetch.FaultOf(err) == fetch.BadReferral && c.name == "open" {
		fmt.Fprintf(b.Out, "Type g %d to open the URL as if you typed it.\n", c.item)
	}
	return nil
}

// transfer calls the function do with a context that Control-C cancels.
func (b *Browser) transfer(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b.mu.Lock()
	b.cancel = cancel
	b.mu.Unlock()
	err := do(ctx)
	b.mu.Lock()
	b.cancel = nil
	b.mu.Unlock()
	if err != nil && context.Cause(ctx) == errStopped {
		return errStopped
	}
	return err
}

// An outputError is an error of writing to the terminal.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

func isOutputError(err error) bool {
	var failed outputError
	return errors.As(err, &failed)
}

// above returns the listings above the URL of p.
func (b *Browser) above(p *page.Page) []crumbs.Crumb {
	return crumbs.Of(b.Scheme(p.URL.Scheme()), p.URL)
}
