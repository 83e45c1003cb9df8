// Package transfer describes the transfers of bodies: their times and sizes, the
// JSON records of --meta and fetch info, and the variables of -w.
package transfer

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/sink"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
)

// A Transfer describes the retrieval of one URL for -w and --meta.
type Transfer struct {
	arguments.Argument
	DefaultScheme string // value of --proto-default

	Measure   *Measure        // times and sizes of the transfer, or nil
	Sink      sink.Sink       // destination, or nil before it is open
	Resp      *fetch.Response // the last response, or nil; its body is closed
	ErrorPage *fetch.Response // the last response if it is an error page that fails, or nil; only with -w
	Requests  int             // number of requests, without redirects
	Failure   error           // result of the transfer
	Exit      int             // exit code for Failure
}

// A Metadata contains the metadata of an object, with the same JSON keys for
// every scheme. fetch info prints records, and --meta adds fields about the
// transfer. Unknown values are omitted.
type Metadata struct {
	URL       uri.URI             `json:"url"`
	Chain     []uri.URI           `json:"chain,omitempty"`
	Location  string              `json:"location,omitempty"`
	Kind      fetch.Kind          `json:"kind"`
	Media     string              `json:"media,omitempty"`
	Size      *int64              `json:"size,omitempty"`
	Time      *time.Time          `json:"time,omitempty"`
	Validator string              `json:"validator,omitempty"`
	Code      int                 `json:"code,omitempty"`
	Proto     string              `json:"proto,omitempty"`
	Peer      *netip.Addr         `json:"peer,omitempty"`
	TLS       *tlsRecord          `json:"tls,omitempty"`
	Header    map[string][]string `json:"header,omitempty"`
}

type tlsRecord struct {
	Version     string `json:"version"`
	Cipher      string `json:"cipher"`
	ALPN        string `json:"alpn,omitempty"`
	Server      string `json:"server,omitempty"`
	Certificate string `json:"certificate,omitempty"` // SHA-256 digest of the certificate of the server
}

// A transferRecord is the JSON object that --meta writes for each transfer.
type transferRecord struct {
	Asked string    `json:"asked"`
	Line  int       `json:"line,omitempty"` // line number in the input file
	Date  time.Time `json:"date"`
	Metadata
	File     string             `json:"file,omitempty"`
	Offset   int64              `json:"offset,omitempty"`
	Bytes    int64              `json:"bytes"`
	Length   string             `json:"length"` // "known" or "unknown"
	SHA256   string             `json:"sha256,omitempty"`
	Wire     *wireRecord        `json:"wire,omitempty"`
	Timings  map[string]float64 `json:"timings"` // seconds since Date
	Notes    []string           `json:"notes,omitempty"`
	Attempts int                `json:"attempts"`
	Exit     int                `json:"exit"`
	Error    string             `json:"error,omitempty"`
	Fault    string             `json:"fault,omitempty"`
}

type wireRecord struct {
	Sent   int64  `json:"sent"`
	Got    int64  `json:"got"`
	SHA256 string `json:"sha256"` // digest of the received bytes
}

func MetadataOf(resp *fetch.Response) Metadata {
	r := Metadata{
		URL: resp.URL, Chain: resp.Chain, Location: resp.Location.String(), Kind: resp.Kind, Media: resp.Media,
		Validator: resp.Validator, Code: resp.Code, Proto: resp.Proto, TLS: tlsOf(resp.TLS),
	}
	if resp.Size >= 0 {
		r.Size = &resp.Size
	}
	if !resp.Time.IsZero() {
		r.Time = &resp.Time
	}
	if resp.Peer.IsValid() {
		r.Peer = &resp.Peer
	}
	for _, f := range resp.Header {
		if r.Header == nil {
			r.Header = map[string][]string{}
		}
		value := f.Value
		if strings.EqualFold(f.Name, "Set-Cookie") {
			value = "***"
		}
		r.Header[f.Name] = append(r.Header[f.Name], value)
	}
	return r
}

func tlsOf(s *tls.ConnectionState) *tlsRecord {
	if s == nil {
		return nil
	}
	r := &tlsRecord{Version: tls.VersionName(s.Version), Cipher: tls.CipherSuiteName(s.CipherSuite),
		ALPN: s.NegotiatedProtocol, Server: s.ServerName}
	if len(s.PeerCertificates) > 0 {
		digest := sha256.Sum256(s.PeerCertificates[0].Raw)
		r.Certificate = hex.EncodeToString(digest[:])
	}
	return r
}

// A MetaFile is the file that --meta names. Its write method may be called
// concurrently.
type MetaFile struct {
	mu sync.Mutex
	w  io.WriteCloser
}

func OpenMetaFile(name string) (*MetaFile, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	return &MetaFile{w: f}, nil
}

func (m *MetaFile) Close() error {
	if m == nil {
		return nil
	}
	return fetch.Local.With(m.w.Close())
}

// Write appends the JSON record of t to the file.
func (m *MetaFile) Write(t *Transfer) error {
	if m == nil {
		return nil
	}
	r := t.record()
	m.mu.Lock()
	defer m.mu.Unlock()
	return console.Encode(m.w, r)
}

// record returns the JSON record of the transfer for --meta.
func (t *Transfer) record() transferRecord {
	r := transferRecord{Asked: t.requestedURL(), Line: t.Line, Length: "unknown", Attempts: t.Requests,
		Timings: map[string]float64{}}
	if t.Resp != nil {
		r.Metadata = MetadataOf(t.Resp)
		r.Offset = t.Resp.Offset
		if t.Resp.Size >= 0 {
			r.Length = "known"
		}
	}
	if t.Sink != nil {
		r.SHA256 = hex.EncodeToString(t.Sink.Sum())
		if t.Sink.Name() != sink.StandardOutput {
			r.File = t.Sink.Name()
		}
	}
	if m := t.Measure; m != nil {
		r.Date, r.Bytes, r.Notes = m.start.UTC(), m.size, m.notes
		if m.wire != nil {
			r.Wire = &wireRecord{m.sent, m.got, hex.EncodeToString(m.wire.Sum(nil))}
		}
		for p, name := range map[trace.Phase]string{trace.Resolved: "resolved", trace.Connected: "connected",
			trace.Secured: "secured", trace.RequestSent: "asked", trace.FirstByte: "answered"} {
			if elapsed := m.phaseTime(p); elapsed > 0 {
				r.Timings[name] = elapsed.Seconds()
			}
		}
		r.Timings["total"] = m.end.Seconds()
	}
	if t.Failure != nil {
		r.Exit, r.Error, r.Fault = t.Exit, t.Failure.Error(), fetch.FaultOf(t.Failure).String()
		var e *fetch.Error
		if errors.As(t.Failure, &e) && r.Code == 0 {
			r.Code = e.Code
		}
	}
	return r
}

// requestedURL returns the URL that the user entered, without its password.
func (t *Transfer) requestedURL() string {
	u, _, err := t.Parse(t.DefaultScheme)
	if err != nil {
		return "(malformed)" // any part of the text may be a password
	}
	return u.String()
}
