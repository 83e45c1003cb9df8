package browse

import (
	"context"
	"fmt"
	"io"

	"github.com/anyurl/fetch/cmd/fetch/internal/page"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
)

// command executes one command of the user.
func (b *Browser) command(ctx context.Context, c command) error {
	switch c.name {
	case "quit":
		return errQuit
	case "help":
		return b.write(help)
	case "more":
		return b.printMore()
	case "back":
		return b.move(ctx, -1)
	case "forward":
		return b.move(ctx, 1)
	}
	if c.name == "go" && c.item == 0 {
		req, err := b.Typed(c.text)
		if err != nil {
			return err
		}
		return b.open(ctx, req)
	}
	v := b.history.current()
	if v == nil {
		return fetch.Usage.Errorf("there is no page yet: type g URL")
	}
	switch c.name {
	case "open", "go":
		return b.openItem(ctx, v, c)
	case "up":
		above := b.above(v.page)
		if len(above) == 0 {
			return fetch.Usage.Errorf("there is no listing above %s", v.page.URL)
		}
		return b.open(ctx, v.derived(above[len(above)-1].URL))
	case "search":
		found, err := b.Query(v.page.URL, c.text)
		if err != nil {
			return err
		}
		return b.open(ctx, v.derived(found))
	case "reload":
		return b.reload(ctx)
	case "list":
		return b.show(ctx, v.page)
	case "info":
		return b.printInfo(v.page)
	case "save":
		if v.req == nil {
			return fetch.Usage.Errorf("this page cannot be saved")
		}
		saved, err := b.Save(ctx, v.req, c.text)
		if err != nil {
			return err
		}
		return b.write(saved + "\n")
	}
	return fetch.Internal.Errorf("no command %s", c.name)
}

// derived returns a request for a URL that the browser derived from the URL of
// the page, such as the listing above. If the user typed the URL of the page,
// the derived URL is typed too. Otherwise it is a link of the page.
func (v *visit) derived(u uri.URI) *fetch.Request {
	if v.req != nil && v.req.URL.WithoutUserinfo() == v.page.URL {
		req := v.req.Clone()
		req.URL = u
		return req
	}
	return v.page.Request(u)
}

// openItem opens an entry of the current page. The command "go" opens it as if
// the user typed its URL.
func (b *Browser) openItem(ctx context.Context, v *visit, c command) error {
	item, ok := v.page.Item(c.item)
	if n := v.page.Len(); !ok && n == 0 {
		return fetch.Usage.Errorf("there is no entry %d; the page has no entries", c.item)
	} else if !ok {
		return fetch.Usage.Errorf("there is no entry %d; the last one is %d", c.item, n)
	}
	if c.name == "open" && v.req != nil {
		return b.open(ctx, v.page.Request(item.URL))
	}
	// A page without a request displays an archive that the user selected. Its
	// URLs are therefore treated as typed.
	req, err := b.Typed(item.URL.Unredacted())
	if err != nil {
		return err
	}
	return b.open(ctx, req)
}

// open sends a request and displays the response as a new page.
func (b *Browser) open(ctx context.Context, req *fetch.Request) error {
	p, err := b.request(ctx, req)
	if p == nil {
		return err
	}
	if failed := b.display(ctx, visit{req, p}); failed != nil {
		return failed
	}
	return err
}

// request sends a request and returns the response as a page. If the response is
// a session, request runs the session and returns nil. If reading the body fails,
// request returns the error and the start of the page.
func (b *Browser) request(ctx context.Context, req *fetch.Request) (*page.Page, error) {
	resp, err := b.Do(ctx, req)
	if fetch.FaultOf(err) == fetch.NeedQuery {
		return page.NewSearch(b.Scheme(req.URL.Scheme()), req.URL), nil
	}
	if err != nil {
		return nil, err
	}
	if resp.Input != nil {
		defer resp.Body.Close()
		in, end := b.In.session(ctx)
		defer end()
		return nil, b.Session(ctx, in, resp)
	}
	width, _ := b.Size()
	return page.Load(resp, page.Options{Scheme: b.Scheme, Width: width})
}

// display adds a page to the history and prints it.
func (b *Browser) display(ctx context.Context, v visit) error {
	b.history.add(v)
	return b.show(ctx, v.page)
}

// move displays the page before (-1) or after (1) the current one. If the page
// is not in memory any more, move requests it again.
func (b *Browser) move(ctx context.Context, step int) error {
	i, ok := b.history.neighbor(step)
	if !ok {
		return fetch.Usage.Errorf("there is no other page in this direction")
	}
	v := &b.history.visits[i]
	if v.page == nil {
		p, err := b.request(ctx, v.req)
		if p == nil {
			return err
		}
		v.page = p
	}
	b.history.at = i
	b.history.trim()
	return b.show(ctx, v.page)
}

// reload requests the current page again.
func (b *Browser) reload(ctx context.Context) error {
	v := b.history.current()
	if v.req == nil {
		return b.show(ctx, v.page)
	}
	p, err := b.request(ctx, v.req)
	if p == nil {
		return err
	}
	v.page = p
	if failed := b.show(ctx, p); failed != nil {
		return failed
	}
	return err
}

// show prints a page from its first line. The pager, if any, displays a text that
// is longer than the screen.
func (b *Browser) show(ctx context.Context, p *page.Page) error {
	b.closeView()
	width, height := b.Size()
	if b.Interactive && b.Pager != nil && p.Kind == page.Text && b.isLong(p, width, height) {
		return b.Pager(ctx, func(w io.Writer) error {
			v := newView(b.lines(p))
			defer v.stop()
			return v.print(w, width, 0)
		})
	}
	if b.shown {
		if err := b.write("\n"); err != nil {
			return err
		}
	}
	b.shown = true
	b.view = newView(b.lines(p))
	return b.printMore()
}

// isLong reports whether a page needs more rows than the screen has.
func (b *Browser) isLong(p *page.Page, width, height int) bool {
	rows := 0
	for line := range b.lines(p) {
		if rows += rowsOf(line, width); rows > height-promptRows {
			return true
		}
	}
	return false
}

// promptRows is the number of screen rows that the prompt occupies.
const promptRows = 2

// printMore prints the next screen of the current page.
func (b *Browser) printMore() error {
	if b.view == nil || !b.view.more {
		return nil
	}
	width, height := b.Size()
	rows := 0
	if b.Interactive {
		rows = max(height-promptRows, 1)
	}
	if err := b.view.print(b.Out, width, rows); err != nil {
		return outputError{err}
	}
	return nil
}

func (b *Browser) closeView() {
	if b.view != nil {
		b.view.stop()
		b.view = nil
	}
}

// printInfo prints the properties of a page.
func (b *Browser) printInfo(p *page.Page) error {
	text := fmt.Sprintf("URL:   %s\nTitle: %s\nType:  %s\nSize:  %s bytes\n", tty.Escape(p.URL.String()), tty.Escape(p.Title),
		tty.Escape(orUnknown(p.Media)), size(p.Size))
	if !p.Time.IsZero() {
		text += "Time:  " + p.Time.In(b.Now().Location()).Format("2006-01-02 15:04:05 MST") + "\n"
	}
	return b.write(text)
}

func (b *Browser) write(text string) error {
	if _, err := io.WriteString(b.Out, text); err != nil {
		return outputError{err}
	}
	return nil
}
