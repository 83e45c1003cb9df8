package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/spf13/pflag"
)

// httpFlags are for http and https alone.
type httpFlags struct {
	header       []string
	userAgent    string
	referer      string
	pathAsIs     bool
	compressed   bool
	http10       bool
	http11       bool
	http2        bool
	http09       bool
	tolerant     bool
	ignoreLength bool
	raw          bool

	basic, digest, anyauth bool

	cookie      []string
	cookieJar   string
	junkSession bool

	etagSave, etagCompare string
	dumpHeader            string
}

func (f *httpFlags) register(p *pflag.FlagSet) {
	p.StringArrayVarP(&f.header, "header", "H", nil, "send `FIELD`: \"Name: value\", \"Name;\" without value, \"Name:\" to send none")
	p.StringVarP(&f.userAgent, "user-agent", "A", "", "send `TEXT` as User-Agent")
	p.StringVarP(&f.referer, "referer", "e", "", "send `URL` as Referer")
	p.BoolVar(&f.pathAsIs, "path-as-is", false, "keep . and .. in the path")
	p.BoolVar(&f.compressed, "compressed", false, "ask for a compressed body and decompress it (of news servers too)")
	p.BoolVarP(&f.http10, "http1.0", "0", false, "ask by HTTP/1.0")
	p.BoolVar(&f.http11, "http1.1", false, "do not offer HTTP/2")
	p.BoolVar(&f.http2, "http2", false, "offer HTTP/2 (always on)")
	p.BoolVar(&f.http09, "http0.9", false, "take a reply without a head for the object")
	p.BoolVar(&f.tolerant, "tolerant", false, "bear the replies of old servers that the standard refuses; each is noted")
	p.BoolVar(&f.ignoreLength, "ignore-content-length", false, "let the body end with the connection (ftp: do not ask for its size)")
	p.BoolVar(&f.raw, "raw", false, "keep transfer codings")
	p.BoolVar(&f.basic, "basic", false, "prove the user by Basic (the default)")
	p.BoolVar(&f.digest, "digest", false, "prove the user by Digest")
	p.BoolVar(&f.anyauth, "anyauth", false, "prove the user as the server asks")
	p.StringArrayVarP(&f.cookie, "cookie", "b", nil, "send `NAME=VALUE`, or the cookies of a file")
	p.StringVarP(&f.cookieJar, "cookie-jar", "c", "", "keep cookies, and write them to `FILE` at the end")
	p.BoolVarP(&f.junkSession, "junk-session-cookies", "j", false, "forget the session cookies of the file")
	p.StringVar(&f.etagSave, "etag-save", "", "write the object's ETag to `FILE`")
	p.StringVar(&f.etagCompare, "etag-compare", "", "bring the object only if its ETag is not the one in `FILE`")
	p.StringVarP(&f.dumpHeader, "dump-header", "D", "", "write the heads of all answers to `FILE`")
	p.Lookup("http2").Hidden = true
}

// options are those of the http package, with the cookies of files in its jar.
func (f *httpFlags) options() (http.Options, error) {
	o := http.Options{
		UserAgent: "fetch/" + version, PathAsIs: f.pathAsIs, Compressed: f.compressed, HTTP1: f.http11,
		Legacy: http.Legacy{HTTP10: f.http10, HTTP09: f.http09, Tolerant: f.tolerant, IgnoreLength: f.ignoreLength, Raw: f.raw},
	}
	switch {
	case f.anyauth:
		o.Auth = http.AnyAuth
	case f.digest:
		o.Auth = http.Digest
	}
	for _, c := range f.cookie {
		if strings.Contains(c, "=") {
			continue
		}
		if o.Jar == nil {
			o.Jar = &http.Jar{}
		}
		if err := f.readCookies(o.Jar, c); err != nil {
			return o, err
		}
	}
	if f.cookieJar != "" && o.Jar == nil {
		o.Jar = &http.Jar{}
	}
	return o, nil
}

// readCookies adds those of a file. As in curl, one that is not there, has no
// name or is a folder, only turns the cookies on.
func (f *httpFlags) readCookies(jar *http.Jar, name string) error {
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
		return fetch.Local.With(err)
	}
	if f.junkSession {
		jar.EndSession()
	}
	return nil
}

// writeCookies writes the jar where -c wants it, whole or not at all.
func (a *app) writeCookies() error {
	name := a.flags.http.cookieJar
	if name == "" || a.jar == nil {
		return nil
	}
	var text bytes.Buffer
	if err := a.jar.Write(&text, time.Now()); err != nil {
		return err
	}
	if name == "-" {
		return show(a.stdout, text.Bytes())
	}
	if done, err := showAt(name, text.Bytes()); done {
		return err
	}
	file, err := save.Create(name, save.Options{Mode: 0o600})
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(text.Bytes()); err != nil {
		return err
	}
	return file.Commit()
}

// fields are the header fields that the flags ask for.
func (f *httpFlags) fields(given func(string) bool) (fetch.Header, error) {
	var h fetch.Header
	if given("user-agent") {
		h = append(h, fetch.Field{Name: "User-Agent", Value: f.userAgent})
	}
	if f.referer != "" {
		h = append(h, fetch.Field{Name: "Referer", Value: strings.TrimSuffix(f.referer, ";auto")})
	}
	var cookies []string
	for _, c := range f.cookie {
		if strings.Contains(c, "=") {
			cookies = append(cookies, c)
		}
	}
	if len(cookies) > 0 {
		h = append(h, fetch.Field{Name: "Cookie", Value: strings.Join(cookies, ";")})
	}
	more, err := fields(f.header)
	return append(h, more...), err
}

// condition puts the ETag of --etag-compare into req.
func (f *httpFlags) condition(req *fetch.Request) error {
	if f.etagCompare == "" {
		return nil
	}
	b, err := os.ReadFile(f.etagCompare)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fetch.Local.With(err)
	}
	if req.IfNot = strings.TrimSpace(string(b)); req.IfNot == "" {
		req.IfNot = `""` // as curl does: the object is wanted whatever it is
	}
	return nil
}

// keep writes what an answer says to the files of --etag-save and -D.
func (f *httpFlags) keep(resp *fetch.Response) error {
	if f.etagSave != "" && resp.Header.Get("ETag") != "" {
		tag := []byte(resp.Header.Get("ETag") + "\n")
		if done, err := showAt(f.etagSave, tag); done {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(f.etagSave), 0o755); err != nil {
			return fetch.Local.With(err)
		}
		if err := os.WriteFile(f.etagSave, tag, 0o666); err != nil {
			return fetch.Local.With(err)
		}
	}
	return nil
}
