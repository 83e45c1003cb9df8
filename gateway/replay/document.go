package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"

	_ "embed"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/uri"
)

// archivedScript runs in each archived page and worker before their own scripts.
// It gives them the original URLs, and replaces the URLs that they request.
//
//go:embed page/archived.js
var archivedScript []byte

// scriptPath is the path of archivedScript on each host name.
const scriptPath = "/__fetch/archived.js"

// scriptOf returns archivedScript for the origin of n.
func (s *Site) scriptOf(n name) []byte {
	config, _ := json.Marshal(map[string]string{ // strings have no error
		"origin": n.origin(), "scheme": n.scheme, "hostname": n.host, "group": s.group(n), "frame": s.frameOrigin(n.archive), "redirect": redirectPath,
	})
	return bytes.Join([][]byte{[]byte("("), bytes.TrimSpace(archivedScript), []byte(")("), config, []byte(");\n")}, nil)
}

func (s *Site) serveScript(w http.ResponseWriter, n name) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=600")
	w.Write(s.scriptOf(n))
}

// rewrite sends a document or a style sheet with replaced links. An HTML page
// loads archivedScript first.
func (s *Site) rewrite(w http.ResponseWriter, r *http.Request, n name, resp *fetch.Response) {
	resp.Body = web.DecodeHTML(resp)
	body := io.Reader(resp.Body)
	if media.TrimParameters(resp.Media) == "text/html" && r.Method != http.MethodHead {
		page, release, err := s.texts.read(r.Context(), resp, func(page []byte) []byte { return s.withModules(n, page) })
		defer release()
		switch {
		case err == errBusy:
			refuseBusy(w)
			return
		case err != nil:
			body = errReader{err}
		}
		body = withScript(io.MultiReader(bytes.NewReader(page), body))
	}
	setMedia(w, resp)
	w.WriteHeader(statusOf(resp))
	if r.Method == http.MethodHead {
		return
	}
	scheme := func(name string) fetch.Scheme { return s.schemes[name] }
	err := links.Rewrite(w, scheme, resp.URL, resp.Media, resp.Header, body, func(l links.Link) string { return s.replacement(n, l) })
	if err != nil {
		panic(http.ErrAbortHandler) // net/http recovers it
	}
}

// replacement returns the URL that replaces a link, or "" if the link remains
// unchanged. Links of the archived origin have no host, so that scripts find the
// same references as in the original.
func (s *Site) replacement(n name, l links.Link) string {
	if l.Template {
		return "" // scripts read the template
	}
	to := n
	if to.setOrigin(l.URL) && to == n {
		return targetOf(l.URL)
	}
	return s.urlOf(n, l.URL)
}

var (
	// scriptElement matches a script element with its tag and its text.
	scriptElement = lazy.Regexp(`(?is)(<script\b[^>]*>)(.*?)</script`)
	importMap     = lazy.Regexp(`(?i)\stype\s*=\s*["']?importmap\b`)
	mapped        = lazy.Regexp(`()(")(https?://[^"\\\s]+)(")`)
)

// withModules replaces the complete URLs of imports in the scripts and import
// maps of a page.
func (s *Site) withModules(n name, page []byte) []byte {
	return scriptElement().ReplaceAllFunc(page, func(element []byte) []byte {
		at := bytes.IndexByte(element, '>') + 1
		expression := imports()
		if importMap().Match(element[:at]) {
			expression = mapped()
		}
		return append(bytes.Clone(element[:at]), s.replaceURLs(n, expression, element[at:])...)
	})
}

// An errReader is a reader that always returns the same error.
type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// maxStart is the number of bytes in which withScript searches for the place of
// the script.
const maxStart = 16 << 10

// withScript inserts the element that loads archivedScript into a page.
func withScript(body io.Reader) io.Reader {
	in := bufio.NewReaderSize(body, maxStart)
	start, _ := in.Peek(maxStart) // the next Read returns the same error
	at := scriptPlace(start)
	element := bytes.NewReader([]byte(`<script src="` + scriptPath + `"></script>`))
	return io.MultiReader(io.LimitReader(in, int64(at)), element, in)
}

// scriptPlace returns the offset in a page before which no element starts except
// html and head.
func scriptPlace(page []byte) int {
	z := html.NewTokenizer(bytes.NewReader(page))
	offset, place := 0, 0
	if bytes.HasPrefix(page, []byte("\xef\xbb\xbf")) {
		place = 3
	}
	for {
		kind := z.Next()
		offset += len(z.Raw())
		switch kind {
		case html.DoctypeToken:
			place = offset
			continue
		case html.CommentToken:
			continue
		case html.TextToken:
			if len(bytes.TrimSpace(bytes.TrimPrefix(z.Raw(), []byte("\xef\xbb\xbf")))) == 0 {
				continue
			}
		case html.StartTagToken:
			switch tag, _ := z.TagName(); string(tag) {
			case "head":
				return offset
			case "html":
				place = offset
				continue
			}
		}
		return place
	}
}

// A readCloser reads from one value and closes another one.
type readCloser struct {
	io.Reader
	io.Closer
}

// imports matches the complete URL of an import in a script.
var imports = lazy.Regexp(`(\bfrom\s*|\bimport\s*\(?\s*)(["'])(https?://[^"'\\\s]+)(["'])`)

// sendWorker sends the script of a worker, after archivedScript.
func (s *Site) sendWorker(w http.ResponseWriter, r *http.Request, n name, req *fetch.Request, resp *fetch.Response) {
	resp.Size = -1
	resp.Body = readCloser{io.MultiReader(bytes.NewReader(s.scriptOf(n)), resp.Body), resp.Body}
	s.sendModule(w, r, n, req, resp)
}

// sendModule sends a script, in which the complete URLs of imports are replaced.
// A script of more than maxModule bytes is not changed.
func (s *Site) sendModule(w http.ResponseWriter, r *http.Request, n name, req *fetch.Request, resp *fetch.Response) {
	text, release, err := s.texts.read(r.Context(), resp, func(text []byte) []byte { return s.replaceURLs(n, imports(), text) })
	defer release()
	switch {
	case err == errBusy:
		refuseBusy(w)
		return
	case err != nil:
		panic(http.ErrAbortHandler) // net/http recovers it
	}
	setMedia(w, resp)
	resp.Size = -1
	resp.Body = readCloser{io.MultiReader(bytes.NewReader(text), resp.Body), resp.Body}
	send(w, r, req, resp)
}

// replaceURLs replaces the URLs in a script that an expression finds. Its groups
// are the text before the URL, a quotation mark, the URL, and a quotation mark.
func (s *Site) replaceURLs(n name, expression *regexp.Regexp, text []byte) []byte {
	return expression.ReplaceAllFunc(text, func(found []byte) []byte {
		m := expression.FindSubmatch(found)
		u, err := uri.Parse(string(m[3]))
		if err != nil {
			return found
		}
		to := s.urlOf(n, u)
		if to == "" {
			return found
		}
		return slices.Concat(m[1], m[2], []byte(to), m[4])
	})
}
