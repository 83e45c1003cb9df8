package rsync

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"

	//lint:ignore SA1019 the protocol requires it
	"golang.org/x/crypto/md4"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// version is the version of the protocol. Servers of all versions since 2.6.0
// support it.
const version = 27

const (
	maxMotd = 1000 // lines before the server accepts a module
)

type driver struct{ env fetch.Env }

// A conversation is a connection to a server, for one request.
type conversation struct {
	*sessions.Single
	req   *fetch.Request
	where locator
	seed  int32
	in    *stream
}

// Do retrieves a file, a directory, or the list of modules.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	auth, err := sessions.Complete(ctx, d.env.Login, req.Auth, fetch.Challenge{Origin: t.Origin()})
	if err != nil {
		return nil, err
	}
	resp, err := d.retrieve(ctx, req, l, auth)
	if fetch.FaultOf(err) != fetch.Auth || auth != nil || !req.Typed() {
		return resp, err
	}
	found, failed := sessions.Ask(ctx, d.env.Login, fetch.Challenge{Origin: t.Origin()})
	if found == nil || failed != nil {
		return nil, sessions.NeedLogin(fetch.Auth, err)
	}
	return d.retrieve(ctx, req, l, found)
}

func (d *driver) retrieve(ctx context.Context, req *fetch.Request, l locator, auth *fetch.Credential) (*fetch.Response, error) {
	single, err := sessions.OpenSingle(ctx, d.env, req, port, false, nil, nil)
	if err != nil {
		return nil, err
	}
	c := &conversation{Single: single, req: req, where: l}
	return single.Respond(func() (*fetch.Response, error) {
		c.SetReplyTimeout(sessions.ReplyTimeout)
		resp, err := c.respond(auth)
		c.SetReplyTimeout(0)
		return resp, fault(err)
	})
}

func (c *conversation) respond(auth *fetch.Credential) (*fetch.Response, error) {
	resp := &fetch.Response{URL: c.req.URL, Kind: fetch.Menu, Media: entries.Media, Size: -1, Proto: "RSYNC"}
	line, err := readLine(c.R)
	if err != nil {
		return nil, err
	}
	if err := parseGreeting(line); err != nil {
		return nil, err
	}
	c.Trace().Reached(trace.FirstByte, c.NetConn)
	module := c.where.module
	if module == "" {
		module = "#list"
	}
	if err := c.send(fmt.Sprintf("@RSYNCD: %d\n%s\n", version, module)); err != nil {
		return nil, err
	}
	if c.where.module == "" {
		resp.Body = c.Body(entries.NewReader(c.modules))
		if c.req.Op == fetch.Stat {
			resp.Body = nil
		}
		return resp, nil
	}
	if err := c.enter(auth); err != nil {
		return nil, err
	}
	if err := c.send(strings.Join(append(c.where.arguments(), "", ""), "\n")); err != nil {
		return nil, err
	}
	if err := c.begin(); err != nil {
		return nil, err
	}
	if c.where.list {
		return c.directory(resp)
	}
	return c.file(resp)
}

func (c *conversation) send(text string) error { return c.Send([]byte(text), []byte(text)) }

// modules returns the next module of the list.
func (c *conversation) modules() (fetch.Entry, error) {
	line, err := readLine(c.R)
	switch {
	case err != nil:
		return fetch.Entry{}, fault(err)
	case strings.HasPrefix(line, "@RSYNCD: EXIT"):
		return fetch.Entry{}, io.EOF
	case strings.HasPrefix(line, "@ERROR"):
		return fetch.Entry{}, serverError(strings.TrimSpace(strings.TrimPrefix(line, "@ERROR:")))
	}
	name, comment, ok := strings.Cut(line, "\t")
	e := fetch.Entry{Name: strings.TrimRight(name, " "), Kind: fetch.Info, Size: -1, Raw: line}
	if !ok { // a line of the message of the day
		e.Name = line
		return e, nil
	}
	if comment != "" {
		e.Extra = map[string]string{"comment": comment}
	}
	if folder := (item{name: e.Name, mode: folderType}).entry(c.req.URL); folder.Kind == fetch.Menu {
		e.Kind, e.Media, e.URL = folder.Kind, folder.Media, folder.URL
	}
	return e, nil
}

// enter waits until the server accepts the module, and authenticates.
func (c *conversation) enter(auth *fetch.Credential) error {
	for range maxMotd {
		line, err := readLine(c.R)
		if err != nil {
			return err
		}
		rest, command := strings.CutPrefix(line, "@RSYNCD: ")
		challenge, login := strings.CutPrefix(rest, "AUTHREQD ")
		switch {
		case strings.HasPrefix(line, "@ERROR"):
			return serverError(strings.TrimSpace(strings.TrimPrefix(line, "@ERROR:")))
		case command && login:
			if auth == nil || auth.User == "" {
				return fetch.Auth.Errorf("the module %s requires a login", c.where.module)
			}
			if strings.ContainsAny(auth.User, " \r\n\x00") {
				return fetch.BadURL.Errorf("invalid user name")
			}
			if err := c.Send([]byte(auth.User+" "+answer(auth.Password.Reveal(), challenge)+"\n"), []byte(auth.User+" ***\n")); err != nil {
				return err
			}
		case command && rest == "OK":
			return nil
		case command:
			return fetch.Protocol.Errorf("unexpected reply %q", line)
		}
	}
	return fetch.Protocol.Errorf("more than %d lines before the module", maxMotd)
}

// answer returns the answer to a challenge: a digest that begins with a seed of
// zero.
func answer(password, challenge string) string {
	h := md4.New()
	h.Write(make([]byte, 4))
	io.WriteString(h, password+challenge)
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil))
}

// begin reads the seed of the digests, after which the stream is multiplexed, and
// sends an empty list of filters.
func (c *conversation) begin() error {
	plain := &stream{r: c.R, left: 4}
	seed, err := plain.int()
	if err != nil {
		return err
	}
	c.seed, c.in = seed, &stream{r: c.R}
	return c.Send(appendInts(nil, 0), nil)
}

// directory returns the listing of a directory.
func (c *conversation) directory(resp *fetch.Response) (*fetch.Response, error) {
	all := &list{s: c.in}
	first, err := all.next()
	if err == io.EOF || err == nil && first.mode&typeMask != folderType {
		return nil, c.missing()
	}
	if err != nil {
		return nil, err
	}
	if c.req.Op == fetch.Stat {
		return resp, nil
	}
	next := func() (fetch.Entry, error) {
		for {
			f, err := all.next()
			if err == io.EOF {
				return fetch.Entry{}, c.endOfList()
			}
			if err != nil {
				return fetch.Entry{}, fault(err)
			}
			if f.name != "." {
				return f.entry(c.req.URL), nil
			}
		}
	}
	resp.Body = c.Body(entries.NewReader(next))
	return resp, nil
}

// endOfList reads the number at the end of the list, which shows whether the
// server could read the complete directory. It returns io.EOF.
func (c *conversation) endOfList() error {
	failed, err := c.in.int()
	switch {
	case err != nil:
		return fault(err)
	case failed&1 != 0:
		text := c.in.text
		if text == "" {
			text = "the directory could not be read completely"
		}
		return serverError(text)
	}
	return io.EOF
}

// missing returns the error for a path that the server does not list.
func (c *conversation) missing() error {
	if _, err := c.in.int(); err != nil && c.in.text == "" {
		return err
	}
	if c.in.text != "" {
		return serverError(c.in.text)
	}
	return fetch.NotFound.Errorf("%s does not exist", c.where.path)
}

// file retrieves the file at the path, or redirects to a directory.
func (c *conversation) file(resp *fetch.Response) (*fetch.Response, error) {
	all := &list{s: c.in}
	f, err := all.next()
	if err == io.EOF {
		return nil, c.missing()
	}
	if err != nil {
		return nil, err
	}
	if f.mode&typeMask == folderType {
		if resp.Location, err = c.req.URL.WithoutUserinfo().WithPath(strings.TrimSuffix(c.req.URL.Path(), "/") + "/"); err != nil {
			return nil, fetch.BadURL.With(err)
		}
		return resp, nil
	}
	if _, err := all.next(); err != io.EOF {
		if err == nil {
			err = fetch.Protocol.Errorf("several entries for one file")
		}
		return nil, err
	}
	if _, err := c.in.int(); err != nil {
		return nil, err
	}
	if f.mode&typeMask != regularType {
		return nil, fetch.Denied.Errorf("not a file")
	}
	resp.Kind, resp.Media, resp.Size, resp.Time = fetch.Document, media.ByName(c.where.path), f.size, f.time
	resp.Validator = "" // the protocol has no ranges
	version := fmt.Sprintf("%x-%x", f.size, f.time.Unix())
	if resp.Unchanged = selection.Excludes(c.req, version, f.time); resp.Unchanged || c.req.Op == fetch.Stat {
		resp.Body = http.NoBody
		c.Close()
		return resp, nil
	}
	selection.IgnoreRange(c.req, "rsync")
	// The index of the file, an empty list of blocks that the client has, and
	// the end of all requests.
	if err := c.Send(appendInts(nil, 0, 0, 0, 0, 0, -1), nil); err != nil {
		return nil, err
	}
	body, err := c.openFile(f.size)
	if err != nil {
		return nil, err
	}
	resp.Body = c.Body(body)
	return resp, nil
}
