package main

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

// A transfer describes the retrieval of one URL for -w and --meta.
type transfer struct {
	arguments.Argument
	defaultScheme string // value of --proto-default

	measure   *measure        // times and sizes of the transfer, or nil
	sink      sink.Sink       // destination, or nil before it is open
	resp      *fetch.Response // the last response, or nil; its body is closed
	errorPage *fetch.Response // the last response if it is an error page that fails, or nil; only with -w
	requests  int             // number of requests, without redirects
	err       error           // result of the transfer
	exit      int             // exit code for err
}

// A metadata contains the metadata of an object, with the same JSON keys for
// every scheme. fetch info prints records, and --meta adds fields about the
// transfer. Unknown values are omitted.
type metadata struct {
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
	metadata
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

func metadataOf(resp *fetch.Response) metadata {
	r := metadata{
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

// A metaFile is the file that --meta names. Its write method may be called
// concurrently.
type metaFile struct {
	mu sync.Mutex
	w  io.WriteCloser
}

func openMeta(name string) (*metaFile, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	return &metaFile{w: f}, nil
}

func (m *metaFile) Close() error {
	if m == nil {
		return nil
	}
	return fetch.Local.With(m.w.Close())
}

// write appends the JSON record of t to the file.
func (m *metaFile) write(t *transfer) error {
	if m == nil {
		return nil
	}
	r := t.record()
	m.mu.Lock()
	defer m.mu.Unlock()
	return console.Encode(m.w, r)
}

// record returns the JSON record of the transfer for --meta.
func (t *transfer) record() transferRecord {
	r := transferRecord{Asked: t.requestedURL(), Line: t.Line, Length: "unknown", Attempts: t.requests,
		Timings: map[string]float64{}}
	if t.resp != nil {
		r.metadata = metadataOf(t.resp)
		r.Offset = t.resp.Offset
		if t.resp.Size >= 0 {
			r.Length = "known"
		}
	}
	if t.sink != nil {
		r.SHA256 = hex.EncodeToString(t.sink.Sum())
		if t.sink.Name() != sink.StandardOutput {
			r.File = t.sink.Name()
		}
	}
	if m := t.measure; m != nil {
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
	if t.err != nil {
		r.Exit, r.Error, r.Fault = t.exit, t.err.Error(), fetch.FaultOf(t.err).String()
		var e *fetch.Error
		if errors.As(t.err, &e) && r.Code == 0 {
			r.Code = e.Code
		}
	}
	return r
}

// requestedURL returns the URL that the user entered, without its password.
func (t *transfer) requestedURL() string {
	u, _, err := t.Parse(t.defaultScheme)
	if err != nil {
		return "(malformed)" // any part of the text may be a password
	}
	return u.String()
}
