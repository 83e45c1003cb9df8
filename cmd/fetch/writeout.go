package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/uri"
)

// writeOut says what -w asks for: curl's variables, where the thing exists
// here.
func (j *job) writeOut(err error) error {
	format := j.flags.writeOut
	if format == "" {
		return nil
	}
	if name, ok := strings.CutPrefix(format, "@"); ok {
		text, err := readText(name, j.stdin)
		if err != nil {
			return err
		}
		format = text
	}
	var text, aside bytes.Buffer
	w := &text
	rest := format
	for rest != "" {
		i := strings.IndexAny(rest, "%\\")
		if i < 0 {
			io.WriteString(w, rest)
			break
		}
		io.WriteString(w, rest[:i])
		rest = rest[i:]
		switch {
		case rest[0] == '\\':
			rest = escapeSequence(w, rest)
		case strings.HasPrefix(rest, "%%"):
			io.WriteString(w, "%")
			rest = rest[2:]
		default:
			name, after, ok := cutVariable(rest)
			if !ok {
				io.WriteString(w, rest[:1])
				rest = rest[1:]
				continue
			}
			rest = after
			switch name {
			case "onerror":
				if err == nil {
					rest = ""
				}
			case "stderr":
				w = &aside
			case "stdout":
				w = &text
			default:
				io.WriteString(w, j.variable(name, err))
			}
		}
	}
	return errors.Join(show(j.stderr, aside.Bytes()), show(j.stdout, text.Bytes()))
}

func readText(name string, stdin io.Reader) (string, error) {
	if name == "-" {
		b, err := io.ReadAll(io.LimitReader(stdin, 1<<20))
		return string(b), fetch.Local.With(err)
	}
	b, err := os.ReadFile(name)
	return string(b), fetch.Local.With(err)
}

func escapeSequence(w io.Writer, s string) string {
	if len(s) < 2 {
		io.WriteString(w, s)
		return ""
	}
	switch s[1] {
	case 'n':
		io.WriteString(w, "\n")
	case 'r':
		io.WriteString(w, "\r")
	case 't':
		io.WriteString(w, "\t")
	default:
		io.WriteString(w, s[:2])
	}
	return s[2:]
}

// cutVariable cuts %{name} or %header{name} off s.
func cutVariable(s string) (name, after string, ok bool) {
	for _, prefix := range []string{"%header{", "%{"} {
		if body, found := strings.CutPrefix(s, prefix); found {
			name, after, ok = strings.Cut(body, "}")
			if prefix != "%{" {
				name = "header " + name
			}
			return name, after, ok
		}
	}
	return "", s, false
}

// variable is the value of one variable; one that is not known is "".
func (j *job) variable(name string, err error) string {
	if name == "json" {
		b, _ := json.Marshal(j.variables(err))
		return string(tty.JSON(b))
	}
	if name == "header_json" {
		b, _ := json.Marshal(j.fields())
		return string(tty.JSON(b))
	}
	if field, ok := strings.CutPrefix(name, "header "); ok {
		if j.resp == nil {
			return ""
		}
		return j.resp.Header.Get(field)
	}
	value, ok := j.variables(err)[name]
	if !ok {
		j.note("-w: no variable %s", name)
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// fields are those of the response, in lower case as curl has them.
func (j *job) fields() map[string][]string {
	all := map[string][]string{}
	if j.resp != nil {
		for name, values := range recordOf(j.resp).Header {
			name = strings.ToLower(name)
			all[name] = append(all[name], values...)
		}
	}
	return all
}

// code is a server's, as curl writes it: 000 where there is none, and in JSON
// the number.
type code int

func (c code) String() string { return fmt.Sprintf("%03d", int(c)) }

// seconds6 is a time as curl writes it.
type seconds6 time.Duration

func (s seconds6) String() string { return strconv.FormatFloat(time.Duration(s).Seconds(), 'f', 6, 64) }

// MarshalJSON writes the number.
func (s seconds6) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// variables are those of curl that exist here; nil is what is not known of this
// transfer.
func (j *job) variables(err error) map[string]any {
	m := j.measure
	v := map[string]any{
		"url": j.asked(), "urlnum": j.index, "exitcode": 0, "errormsg": nil, "filename_effective": nil,
		"size_download": m.size, "num_connects": m.conns, "num_retries": j.attempts() - 1,
		"time_namelookup": seconds6(m.at(fetch.Resolved)), "time_connect": seconds6(m.at(fetch.Connected)),
		"time_appconnect": seconds6(m.at(fetch.Secured)), "time_pretransfer": seconds6(m.at(fetch.RequestSent)),
		"time_starttransfer": seconds6(m.at(fetch.FirstByte)), "time_total": seconds6(m.end),
		"local_ip": address(m.local), "local_port": m.local.Port(), "remote_ip": address(m.remote), "remote_port": m.remote.Port(),
		"speed_download": int64(float64(m.size) / max(m.end.Seconds(), 1e-6)),
		"url_effective":  nil, "scheme": nil, "content_type": nil, "method": nil, "http_version": nil, "http_code": code(0),
		"num_redirects": 0, "redirect_url": nil, "size_header": 0, "num_headers": 0,
	}
	if j.out != nil && j.out.Name() != standardOutput {
		v["filename_effective"] = j.out.Name()
	}
	if r := j.resp; r != nil {
		j.answered(v, r)
	}
	if err != nil {
		v["exitcode"], v["errormsg"] = j.codeOf(err), err.Error()
		var e *fetch.Error
		if errors.As(err, &e) && j.resp == nil { // the server said no, and its page was not wanted
			v["http_code"] = code(e.Code)
			if u, err := uri.ParseZone(e.URL); err == nil {
				v["url_effective"], v["scheme"] = e.URL, u.Scheme()
			}
		}
	}
	v["response_code"] = v["http_code"]
	return v
}

// answered are the variables that a response tells.
func (j *job) answered(v map[string]any, r *fetch.Response) {
	v["url_effective"], v["scheme"], v["content_type"] = r.URL.String(), r.URL.Scheme(), r.Media
	v["num_redirects"], v["size_header"], v["num_headers"] = len(r.Chain), len(r.Head), len(r.Header)
	v["http_code"] = code(r.Code)
	if !r.Location.IsZero() {
		v["redirect_url"] = r.Location.String()
	}
	if version, ok := strings.CutPrefix(r.Proto, "HTTP/"); ok {
		v["http_version"], v["method"] = strings.TrimSuffix(version, ".0"), "GET"
		if j.flags.head {
			v["method"] = "HEAD"
		}
	}
}

func address(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return a.Addr().Unmap().String()
}
