package browser

import (
	"context"
	_ "embed" // for behaviors.js
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// MaxText is the maximum length of Frame.HTML and Page.Text, in characters.
const MaxText = 4 << 20

// Limits for the results of a page.
const (
	maxFrames = 100      // see tooManyFrames
	maxTexts  = 16 << 20 // bytes of all documents, after which the others are cut
	maxCopy   = 24 << 20 // bytes of a PDF document
)

// readDocument is an expression for the URL and the elements of a document. The
// elements in shadow trees are in templates, as declarative shadow roots are.
const readDocument = `(() => {
	const roots = [];
	const collect = node => {
		for (const e of node.querySelectorAll('*')) {
			if (e.shadowRoot) { roots.push(e.shadowRoot); collect(e.shadowRoot); }
		}
	};
	collect(document);
	const all = document.documentElement;
	if (!all) { return {url: document.URL, origin: self.origin, html: ''}; }
	let html = all.outerHTML;
	if (roots.length && all.getHTML) {
		html = all.cloneNode(false).outerHTML.replace(/<\/html>$/i, '') + all.getHTML({shadowRoots: roots}) + '</html>';
	}
	const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + '\n' : '';
	html = type + html;
	return {url: document.URL.slice(0, 65536), origin: self.origin, html: html.slice(0, LIMIT), cut: html.length > LIMIT};
})()`

// readText is an expression for the visible text of a document.
const readText = `(() => {
	const text = (document.body || document.documentElement).innerText || '';
	return {text: text.slice(0, LIMIT), cut: text.length > LIMIT};
})()`

// withLimit sets the limit in an expression to at most MaxText characters.
func withLimit(expression string, limit int) string {
	return fmt.Sprintf("{const LIMIT = %d; %s}", max(min(limit, MaxText), 0), expression)
}

//go:embed behaviors.js
var behaviors string

// worldName is the name of the isolated world in which expressions are
// evaluated. Scripts of the page cannot change its functions.
const worldName = "fetch"

// A frame is a frame of a page with an isolated world.
type frame struct {
	session string
	world   int64
}

// frameTree is a part of the result of Page.getFrameTree.
type frameTree struct {
	Frame       struct{ ID, URL string }
	ChildFrames []frameTree
}

// frameHung is the note for a frame whose elements are missing in the result.
const frameHung = "a frame was not read, because its scripts do not end"

// tooManyFrames is the note for a page with more than maxFrames frames, or more
// than maxSessions of them in other processes.
const tooManyFrames = "frames were not read, because the page has more than 100"

// allFrames returns the frames of the page. The first is the page itself. The
// frames of a process that does not answer in half of the time are left out.
func (p *page) allFrames(ctx context.Context) ([]frame, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readTime, ErrHung)
	defer cancel()
	all, err := p.framesOf(ctx, p.session)
	if err == nil && len(all) == 0 {
		err = errors.Join(ErrHung, context.Cause(ctx))
	}
	if err != nil {
		return nil, timeout(ctx, err)
	}
	p.mu.Lock()
	sessions := slices.Clone(p.frames)
	p.mu.Unlock()
	limited, stop := context.WithTimeout(ctx, readTime/2)
	defer stop()
	found := make([][]frame, len(sessions))
	var calls sync.WaitGroup
	for i, session := range sessions {
		calls.Go(func() {
			frames, err := p.framesOf(limited, session)
			if err != nil && limited.Err() != nil {
				p.note(frameHung)
			}
			found[i] = frames
		})
	}
	calls.Wait()
	all = append(all, slices.Concat(found...)...)
	if len(all) > maxFrames {
		p.note(tooManyFrames)
	}
	return all[:min(len(all), maxFrames)], nil
}

// framesOf returns the frames of a session.
func (p *page) framesOf(ctx context.Context, session string) (all []frame, err error) {
	var tree struct{ FrameTree frameTree }
	if err := p.in.conn.Call(ctx, session, "Page.getFrameTree", nil, &tree); err != nil {
		return nil, err
	}
	var add func(frameTree)
	add = func(t frameTree) {
		if t.Frame.ID == "" {
			return
		}
		if len(all) >= maxFrames {
			p.note(tooManyFrames)
			return
		}
		if f, err := p.frame(ctx, session, t.Frame.ID); err == nil {
			all = append(all, f)
		}
		for _, child := range t.ChildFrames {
			add(child)
		}
	}
	add(tree.FrameTree)
	return all, nil
}

// frame returns the frame with an ID.
func (p *page) frame(ctx context.Context, session, id string) (frame, error) {
	var world struct{ ExecutionContextID int64 }
	err := p.in.conn.Call(ctx, session, "Page.createIsolatedWorld", map[string]any{"frameId": id, "worldName": worldName}, &world)
	return frame{session, world.ExecutionContextID}, err
}

// evaluate decodes the value of a JavaScript expression into result. If the value
// is a promise, evaluate waits for its result.
func (p *page) evaluate(ctx context.Context, f frame, expression string, result any) error {
	got := struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ LineNumber int }
	}{}
	got.Result.Value = result
	err := p.in.conn.Call(ctx, f.session, "Runtime.evaluate", map[string]any{
		"expression": expression, "contextId": f.world, "awaitPromise": true, "returnByValue": true,
	}, &got)
	if err == nil && got.ExceptionDetails != nil {
		err = fmt.Errorf("the browser reports an exception in line %d", got.ExceptionDetails.LineNumber)
	}
	return err
}

// behave carries out the behaviors in the page, at most until the time end.
func (p *page) behave(ctx context.Context, end time.Time) {
	left := time.Until(end)
	if len(p.in.o.Behaviors) == 0 || left <= 0 || ctx.Err() != nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	main, err := p.frame(limited, p.session, p.target)
	if err != nil {
		return // read returns the error
	}
	names := map[string]bool{}
	for _, name := range p.in.o.Behaviors {
		names[name] = true
	}
	var done struct{ Endless bool }
	call := fmt.Sprintf("(%s)(%s, %d)", behaviors, jsonText(names), left.Milliseconds()*3/4)
	if err := p.evaluate(limited, main, call, &done); err != nil {
		p.note("the behaviors did not end")
	}
	if done.Endless {
		p.note("scrolling was ended before the end of the page")
	}
	p.waitIdle(ctx, end)
}

// read reads the page and makes its copies.
func (p *page) read(ctx context.Context) (*Page, error) {
	frames, documents, err := p.readFrames(ctx)
	if err != nil {
		return nil, err
	}
	result := &Page{Frames: documents}
	for _, name := range p.in.o.Copies {
		c, err := p.copy(ctx, name, frames[0])
		if err != nil {
			p.note("no " + name + " was made")
			continue
		}
		if name == "text" {
			result.Text, result.CutText = string(c.Data), c.cut
		}
		result.Copies = append(result.Copies, c)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	result.Notes = p.notes
	return result, nil
}

// readFrames reads the documents of all frames. A frame that is large or on a busy
// machine does not take time from the others.
func (p *page) readFrames(ctx context.Context) (frames []frame, documents []Frame, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readAllTime, ErrHung)
	defer cancel()
	if frames, err = p.allFrames(ctx); err != nil {
		return nil, nil, err
	}
	left, hung := maxTexts, "" // the session of the last frame that did not answer
	for i, f := range frames {
		if left <= 0 {
			p.note("frames were not read completely, because the documents are too long")
			break
		}
		if f.session == hung {
			continue
		}
		limit := readTime
		if i == 0 {
			limit = readAllTime // a large page can need it; allFrames has already failed if its scripts do not end
		}
		d, err := p.readFrame(ctx, f, left, limit)
		switch {
		case err == nil:
			documents = append(documents, d)
			left -= len(d.HTML)
			if d.Cut {
				p.note("a document was cut, because it is too long")
			}
		case i == 0:
			return nil, nil, err
		case errors.Is(err, ErrHung):
			p.note(frameHung)
			hung = f.session
		}
	}
	return frames, documents, nil
}

// readFrame reads at most size characters of the document of a frame. If this takes
// longer than limit, the error is ErrHung.
func (p *page) readFrame(ctx context.Context, f frame, size int, limit time.Duration) (d Frame, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrHung)
	defer cancel()
	err = p.evaluate(ctx, f, withLimit(readDocument, size), &d)
	return d, timeout(ctx, err)
}

// timeout returns ErrHung if err is the end of ctx.
func timeout(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrHung) {
		return ErrHung
	}
	return err
}

// copy makes a copy of the page.
func (p *page) copy(ctx context.Context, name string, f frame) (Copy, error) {
	ctx, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	switch name {
	case "screenshot":
		var shot struct{ Data []byte } // base64
		err := p.call(ctx, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
		return Copy{Name: name, Media: "image/png", Data: shot.Data}, err
	case "pdf":
		data, err := p.print(ctx)
		return Copy{Name: name, Media: "application/pdf", Data: data}, err
	default:
		var read struct {
			Text string
			Cut  bool
		}
		err := p.evaluate(ctx, f, withLimit(readText, MaxText), &read)
		if read.Cut {
			p.note("the text was cut, because it is too long")
		}
		return Copy{name, "text/plain", []byte(read.Text), read.Cut}, err
	}
}

// print returns the page as a PDF document.
func (p *page) print(ctx context.Context) (all []byte, err error) {
	var made struct{ Stream string }
	err = p.call(ctx, "Page.printToPDF", map[string]any{"transferMode": "ReturnAsStream", "printBackground": true}, &made)
	if err != nil {
		return nil, err
	}
	for {
		var part struct {
			Data          string
			Base64Encoded bool
			EOF           bool
		}
		if err := p.call(ctx, "IO.read", map[string]any{"handle": made.Stream, "size": 1 << 20}, &part); err != nil {
			return nil, err
		}
		data := []byte(part.Data)
		if part.Base64Encoded {
			if data, err = base64.StdEncoding.DecodeString(part.Data); err != nil {
				return nil, err
			}
		}
		if all = append(all, data...); len(all) > maxCopy {
			return nil, errors.New("the document is too long")
		}
		if part.EOF {
			return all, nil
		}
	}
}
