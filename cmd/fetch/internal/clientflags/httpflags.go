package clientflags

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/spf13/pflag"
)

// HTTPFlags are the flags for http and https URLs in all commands that use the
// network.
type HTTPFlags struct {
	set          *pflag.FlagSet
	header       []string
	userAgent    string
	pathAsIs     bool
	compressed   bool
	http10       bool
	http11       bool
	http2        bool // ignored, because HTTP/2 is offered by default
	http3        bool
	http3Only    bool
	http09       bool
	tolerant     bool
	ignoreLength bool

	ignoreDigests bool

	basic, digest, anyauth bool
	bearer                 string
	sigv4                  string
	negotiate              bool

	Cookies CookieFlags
}

func (f *HTTPFlags) register(s *options.Set) {
	p := s.Section("HTTP")
	f.set = p
	p.StringArrayVarP(&f.header, "header", "H", nil, "send the header `FIELD` (\"Name: value\"; \"Name:\" removes it)")
	p.StringVarP(&f.userAgent, "user-agent", "A", "", "send `TEXT` as the User-Agent field")
	p.BoolVar(&f.compressed, "compressed", false, "request compressed bodies and decompress them (http, nntp)")
	f.Cookies.register(p)
	p.BoolVar(&f.pathAsIs, "path-as-is", false, "do not remove . and .. from the path of the URL")
	p.BoolVarP(&f.http10, "http1.0", "0", false, "use HTTP/1.0")
	p.BoolVar(&f.http11, "http1.1", false, "use HTTP/1.1")
	p.BoolVar(&f.http2, "http2", false, "offer HTTP/2 (default)")
	p.BoolVar(&f.http3, "http3", false, "use HTTP/3 if it connects within 200 ms, or faster than TCP")
	p.BoolVar(&f.http3Only, "http3-only", false, "use only HTTP/3 (https)")
	p.BoolVar(&f.http09, "http0.9", false, "accept HTTP/0.9 responses (without a header)")
	p.BoolVar(&f.tolerant, "tolerant", false, "accept malformed responses of old servers and report them")
	p.BoolVar(&f.ignoreLength, "ignore-content-length", false, "ignore the size reported by the server (http, ftp)")
	p.BoolVar(&f.ignoreDigests, "ignore-digests", false, "do not compare bodies with the digests in response headers")
	p.Lookup("http2").Hidden = true
	p = s.Section("Authentication")
	p.BoolVar(&f.basic, "basic", false, "use Basic authentication (default)")
	p.BoolVar(&f.digest, "digest", false, "use Digest authentication")
	p.StringVar(&f.bearer, "oauth2-bearer", "", "authenticate with the OAuth 2.0 `TOKEN` (http)")
	p.BoolVar(&f.negotiate, "negotiate", false, "use Kerberos authentication, with -u : for the ticket of kinit (http)")
	p.StringVar(&f.sigv4, "aws-sigv4", "", "sign requests for S3 servers (`aws:amz[:REGION[:SERVICE]]`)")
	p.BoolVar(&f.anyauth, "anyauth", false, "use the strongest authentication method that the server offers")
}

// options converts the flags to options of the http package. The cookie jar
// contains the cookies from the files of --cookie.
func (f *HTTPFlags) options() (o http.Options, err error) {
	o = http.Options{
		UserAgent: console.Product(), PathAsIs: f.pathAsIs, Compressed: f.compressed, HTTP1: f.http11,
		IgnoreDigests: f.ignoreDigests,
		Legacy:        http.Legacy{HTTP10: f.http10, HTTP09: f.http09, Tolerant: f.tolerant, IgnoreLength: f.ignoreLength},
	}
	switch {
	case f.negotiate:
		o.Auth = http.Negotiate
	case f.anyauth:
		o.Auth = http.AnyAuth
	case f.digest:
		o.Auth = http.Digest
	}
	o.Jar, err = f.Cookies.read()
	return o, err
}

// Agent returns the value of the User-Agent field of requests, or "" if the
// user has removed the field.
func (f *HTTPFlags) Agent() (string, error) {
	fields, err := f.Fields()
	if values := fields.Values("User-Agent"); len(values) > 0 {
		return values[len(values)-1], err
	}
	return console.Product(), err
}

// Fields returns the header fields that -H, -A, -b and --oauth2-bearer
// add to each request. As in curl, -H replaces or removes the fields of other
// flags.
func (f *HTTPFlags) Fields() (fetch.Header, error) {
	var h fetch.Header
	if f.set.Changed("user-agent") {
		h = append(h, fetch.Field{Name: "User-Agent", Value: f.userAgent})
	}
	if f.bearer != "" {
		h = append(h, fetch.Field{Name: "Authorization", Value: "Bearer " + f.bearer})
	}
	if value := f.Cookies.Field(); value != "" {
		h = append(h, fetch.Field{Name: "Cookie", Value: value})
	}
	custom, err := parseFields(f.header)
	return append(withoutFields(h, custom), custom...), err
}

// withoutFields returns a copy of h without the fields that custom contains.
func withoutFields(h, custom fetch.Header) fetch.Header {
	return h.Without(func(name string) bool {
		return slices.ContainsFunc(custom, func(f fetch.Field) bool { return f.Is(name) })
	})
}

// parseFields parses header fields in the syntax of curl's -H option. "Name:
// value" sets a field, "Name;" sets an empty field, and "Name:" removes a
// field. @FILE reads fields from a file.
func parseFields(list []string) (fetch.Header, error) {
	var h fetch.Header
	for _, text := range list {
		if file, ok := strings.CutPrefix(text, "@"); ok {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, fetch.Local.With(err)
			}
			more, err := parseFields(strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' || r == '\r' }))
			if err != nil {
				return nil, err
			}
			h = append(h, more...)
			continue
		}
		name, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch {
		case ok && value == "" && !isDefaultField(name):
			continue // the request has no such field to remove
		case !ok:
			if name, ok = strings.CutSuffix(text, ";"); !ok {
				continue // curl ignores text that is not a field
			}
		}
		if strings.ContainsAny(name, " \t") {
			continue // not a field name
		}
		h = append(h, fetch.Field{Name: name, Value: value})
	}
	return h, nil
}

// isDefaultField reports whether fetch may send the named header field by
// default.
func isDefaultField(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "accept", "user-agent", "host", "referer", "accept-encoding", "authorization", "cookie", "range",
		"proxy-connection", "connection":
		return true
	}
	return false
}

// CookieFlags are the flags that load, send and save cookies.
type CookieFlags struct {
	cookies     []string // pairs NAME=VALUE, and names of files
	JarFile     string
	junkSession bool
}

func (f *CookieFlags) register(p *pflag.FlagSet) {
	p.StringArrayVarP(&f.cookies, "cookie", "b", nil, "`NAME=VALUE|FILE`: send a cookie, or the cookies in FILE")
	p.StringVarP(&f.JarFile, "cookie-jar", "c", "", "save all cookies to `FILE` when the command ends")
	p.BoolVarP(&f.junkSession, "junk-session-cookies", "j", false, "ignore session cookies in the files of --cookie")
}

// Field returns the value of the Cookie header field, which contains all
// NAME=VALUE arguments of --cookie.
func (f *CookieFlags) Field() string {
	var pairs []string
	for _, c := range f.cookies {
		if strings.Contains(c, "=") {
			pairs = append(pairs, c)
		}
	}
	return strings.Join(pairs, ";")
}

// read returns a Jar with the cookies from the files of --cookie. It returns
// nil if no flag enables cookies.
func (f *CookieFlags) read() (jar *http.Jar, _ error) {
	for _, c := range f.cookies {
		if strings.Contains(c, "=") {
			continue
		}
		if jar == nil {
			jar = http.NewJar()
		}
		if err := f.readFile(jar, c); err != nil {
			return jar, err
		}
	}
	if f.JarFile != "" && jar == nil {
		jar = http.NewJar()
	}
	return jar, nil
}

// readFile adds the cookies in the named file to jar. As in curl, an empty
// name, a directory and a missing file are ignored.
func (f *CookieFlags) readFile(jar *http.Jar, name string) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fetch.Local.With(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil
	}
	if err := jar.Read(file, time.Now()); err != nil {
		return fetch.Local.Errorf("%s: %w", name, err)
	}
	if f.junkSession {
		jar.EndSession()
	}
	return nil
}

// write saves the cookies in jar to the file that --cookie-jar names. An
// existing file is replaced only after all cookies have been written.
func (f *CookieFlags) write(s *console.Streams, jar *http.Jar) error {
	if f.JarFile == "" || jar == nil {
		return nil
	}
	var text bytes.Buffer
	if err := jar.Write(&text, time.Now()); err != nil {
		return err
	}
	return console.WriteFile(s.Stdout, f.JarFile, text.Bytes(), func() error {
		file, err := save.Create(f.JarFile, save.Options{Mode: 0o600})
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := file.Write(text.Bytes()); err != nil {
			return err
		}
		return file.Commit()
	})
}

// HTTPObjectFlags are the flags for http and https URLs in commands that
// retrieve single objects.
type HTTPObjectFlags struct {
	referer     string
	Raw         bool
	etagSave    string
	etagCompare string
	DumpHeader  string
	HSTS        HSTSFlags
	altSvc      stateFile
}

func (f *HTTPObjectFlags) Register(s *options.Set) {
	p := s.Section("HTTP")
	p.StringVarP(&f.referer, "referer", "e", "", "send `URL` as the Referer field (;auto: update it after redirects)")
	p.BoolVar(&f.Raw, "raw", false, "do not decode transfer codings")
	p.StringVar(&f.etagSave, "etag-save", "", "save the ETag of the response to `FILE`")
	p.StringVar(&f.etagCompare, "etag-compare", "", "download only if the ETag differs from the one in `FILE`")
	f.HSTS.Register(s)
	f.altSvc.register(p, "alt-svc", "use the HTTP/3 servers in `FILE`, and update it (Alt-Svc)")
	p.StringVarP(&f.DumpHeader, "dump-header", "D", "", "write the headers of all responses to `FILE`")
}

// Apply adds the Referer field to req, and the ETag in the file of
// --etag-compare.
func (f *HTTPObjectFlags) Apply(req *fetch.Request) error {
	if referer := strings.TrimSuffix(f.referer, autoReferer); referer != "" {
		field := fetch.Field{Name: "Referer", Value: referer}
		req.Header = append(withoutFields(fetch.Header{field}, req.Header), req.Header...)
	}
	if f.etagCompare == "" {
		return nil
	}
	b, err := os.ReadFile(f.etagCompare)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fetch.Local.With(err)
	}
	if req.IfNot = strings.TrimSpace(string(b)); req.IfNot == "" {
		req.IfNot = `""` // as in curl, matches no object
	}
	return nil
}

// autoReferer is the suffix of --referer values. After a redirect, it makes the
// previous URL the Referer.
const autoReferer = ";auto"

// UpdateReferer is a middleware that sends the previous URL as the Referer of
// redirected requests if --referer selects it. A field of -H takes precedence.
func (f *HTTPObjectFlags) UpdateReferer(next fetch.Driver) fetch.Driver {
	first, auto := strings.CutSuffix(f.referer, autoReferer)
	if !auto {
		return next
	}
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		if req.From != nil && req.Header.Get("Referer") == first && (req.From.URL.Scheme() != "https" || req.URL.Scheme() == "https") {
			field := fetch.Field{Name: "Referer", Value: req.From.URL.String()}
			req = req.Clone()
			req.Header = append(withoutFields(req.Header, fetch.Header{field}), field)
		}
		return next.Do(ctx, req)
	})
}

// SaveETag writes the ETag of resp to the file that --etag-save names.
func (f *HTTPObjectFlags) SaveETag(resp *fetch.Response) error {
	if f.etagSave == "" || resp.Header.Get("ETag") == "" {
		return nil
	}
	tag := []byte(resp.Header.Get("ETag") + "\n")
	create := func() error {
		if err := os.MkdirAll(filepath.Dir(f.etagSave), 0o755); err != nil {
			return fetch.Local.With(err)
		}
		return fetch.Local.With(os.WriteFile(f.etagSave, tag, 0o666))
	}
	if f.etagSave == "-" {
		return create() // here, "-" is an ordinary file name
	}
	return console.WriteFile(nil, f.etagSave, tag, create)
}
