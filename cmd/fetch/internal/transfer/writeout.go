package transfer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/sink"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
)

// A WriteOut expands the variables of -w.
type WriteOut struct {
	*Transfer
	Head bool // if true, -I is set
	Note func(format string, args ...any)
}

// Print replaces the variables in format by their values and writes the text to
// output. If format is @FILE, it is read from FILE. Text after the variable
// %{stderr} is written to errOutput, and text after %output{FILE} to FILE.
func (o *WriteOut) Print(format string, stdin io.Reader, output, errOutput io.Writer) error {
	if name, ok := strings.CutPrefix(format, "@"); ok {
		text, err := readText(name, stdin)
		if err != nil {
			return err
		}
		format = text
	}
	t := newTargets()
	rest := format
	for rest != "" {
		i := strings.IndexAny(rest, "%\\")
		if i < 0 {
			io.WriteString(t, rest)
			break
		}
		io.WriteString(t, rest[:i])
		rest = rest[i:]
		switch {
		case rest[0] == '\\':
			rest = escapeSequence(t, rest)
		case strings.HasPrefix(rest, "%%"):
			io.WriteString(t, "%")
			rest = rest[2:]
		default:
			name, after, ok := cutVariable(rest)
			if !ok {
				io.WriteString(t, rest[:1])
				rest = rest[1:]
				continue
			}
			rest = after
			if name == "onerror" && o.Failure == nil {
				rest = ""
			} else if !t.choose(name) {
				io.WriteString(t, o.variable(name))
			}
		}
	}
	return console.LocalError(t.write(output, errOutput))
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

// cutVariable parses a variable, %{name}, %header{name} or %output{name}, at the
// start of s. It returns the name and the text after the variable. The names of
// fields and files start with their kind and a space.
func cutVariable(s string) (name, after string, ok bool) {
	for _, kind := range []string{"header", "output", ""} {
		if body, found := strings.CutPrefix(s, "%"+kind+"{"); found {
			name, after, ok = strings.Cut(body, "}")
			if kind != "" {
				name = kind + " " + name
			}
			return name, after, ok
		}
	}
	return "", s, false
}

// variable returns the value of the variable with the given name. It returns ""
// if the name is unknown.
func (o *WriteOut) variable(name string) string {
	if name == "json" {
		b, _ := json.Marshal(o.variables())
		return string(tty.JSON(b))
	}
	if name == "header_json" {
		b, _ := json.Marshal(o.responseFields())
		return string(tty.JSON(b))
	}
	if field, ok := strings.CutPrefix(name, "header "); ok {
		if r := o.response(); r != nil {
			return r.Header.Get(field)
		}
		return ""
	}
	value, ok := o.variables()[name]
	if kind, part, isPart := strings.Cut(name, "."); isPart {
		value, ok = o.urlPart(kind, part)
	}
	if !ok {
		o.Note("-w: unknown variable %s", name)
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// response returns the last response, which may be an error page, or nil.
func (o *WriteOut) response() *fetch.Response { return cmp.Or(o.ErrorPage, o.Resp) }

// responseFields returns the header fields of the response. As in curl, the
// names are in lower case.
func (o *WriteOut) responseFields() map[string][]string {
	all := map[string][]string{}
	if r := o.response(); r != nil {
		for name, values := range MetadataOf(r).Header {
			name = strings.ToLower(name)
			all[name] = append(all[name], values...)
		}
	}
	return all
}

// A statusCode is an HTTP status code that is printed with three digits, as in
// curl. In JSON, it is a number.
type statusCode int

func (c statusCode) String() string { return fmt.Sprintf("%03d", int(c)) }

// A transferTime is a duration that is printed in seconds with six decimals, as
// in curl.
type transferTime time.Duration

func (s transferTime) String() string {
	return strconv.FormatFloat(time.Duration(s).Seconds(), 'f', 6, 64)
}

// MarshalJSON encodes the duration as a number of seconds.
func (s transferTime) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// variables returns the values of the -w variables that fetch supports. A nil
// value means that the value is unknown.
func (o *WriteOut) variables() map[string]any {
	m := o.Measure
	v := map[string]any{
		"url": o.requestedURL(), "urlnum": o.Index, "exitcode": 0, "errormsg": nil, "filename_effective": nil,
		"size_download": m.size, "size_upload": 0, "speed_upload": 0, "xfer_id": o.Index, "num_connects": m.conns, "num_retries": o.Requests - 1,
		"time_namelookup": transferTime(m.phaseTime(trace.Resolved)), "time_connect": transferTime(m.phaseTime(trace.Connected)),
		"time_appconnect": transferTime(m.phaseTime(trace.Secured)), "time_pretransfer": transferTime(m.phaseTime(trace.RequestSent)),
		"time_posttransfer": transferTime(m.phaseTime(trace.RequestSent)), "time_queue": transferTime(0),
		"certs": "", "num_certs": 0,
		"time_starttransfer": transferTime(m.phaseTime(trace.FirstByte)), "time_total": transferTime(m.end),
		"local_ip": address(m.local), "local_port": m.local.Port(), "remote_ip": address(m.remote),
		"remote_port":    m.remote.Port(),
		"speed_download": int64(float64(m.size) / max(m.end.Seconds(), 1e-6)),
		"url_effective":  nil, "scheme": nil, "content_type": nil, "method": nil, "http_version": nil,
		"http_code":     statusCode(0),
		"num_redirects": 0, "redirect_url": nil, "size_header": 0, "num_headers": 0,
	}
	if o.Sink != nil && o.Sink.Name() != sink.StandardOutput {
		v["filename_effective"] = o.Sink.Name()
	}
	r := o.response()
	if r != nil {
		o.responseVariables(v, r)
	}
	if o.Failure != nil {
		v["exitcode"], v["errormsg"] = o.Exit, o.Failure.Error()
		var e *fetch.Error
		if errors.As(o.Failure, &e) && r == nil {
			v["http_code"] = statusCode(e.Code)
			if u, err := uri.ParseZone(e.URL); err == nil {
				v["url_effective"], v["scheme"] = e.URL, u.Scheme()
			}
		}
	}
	v["response_code"] = v["http_code"]
	return v
}

// responseVariables adds the variables that depend on the response r to v.
func (o *WriteOut) responseVariables(v map[string]any, r *fetch.Response) {
	v["url_effective"], v["scheme"], v["content_type"] = r.URL.String(), r.URL.Scheme(), r.Media
	v["num_redirects"], v["size_header"], v["num_headers"] = len(r.Chain), len(r.Head), len(r.Header)
	v["http_code"] = statusCode(r.Code)
	if r.TLS != nil {
		v["certs"], v["num_certs"] = certificates(r.TLS.PeerCertificates), len(r.TLS.PeerCertificates)
	}
	if !r.Location.IsZero() {
		v["redirect_url"] = r.Location.String()
	}
	if version, ok := strings.CutPrefix(r.Proto, "HTTP/"); ok {
		v["http_version"], v["method"] = strings.TrimSuffix(version, ".0"), "GET"
		if o.Head {
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
