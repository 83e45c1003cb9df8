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

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// record is what is known of an object, the same for every scheme: info
// writes it, and --meta with what the transfer adds. What is not known is left
// out.
type record struct {
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
	Certificate string `json:"certificate,omitempty"` // SHA-256 of the server's
}

// transferRecord is one line of --meta.
type transferRecord struct {
	Asked string    `json:"asked"`
	Line  int       `json:"line,omitempty"` // of the input file
	Date  time.Time `json:"date"`
	record
	File     string             `json:"file,omitempty"`
	Offset   int64              `json:"offset,omitempty"`
	Bytes    int64              `json:"bytes"`
	Length   string             `json:"length"` // known or unknown
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
	SHA256 string `json:"sha256"` // of what was got
}

func recordOf(resp *fetch.Response) record {
	r := record{
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
	r := &tlsRecord{Version: tls.VersionName(s.Version), Cipher: tls.CipherSuiteName(s.CipherSuite), ALPN: s.NegotiatedProtocol, Server: s.ServerName}
	if len(s.PeerCertificates) > 0 {
		digest := sha256.Sum256(s.PeerCertificates[0].Raw)
		r.Certificate = hex.EncodeToString(digest[:])
	}
	return r
}

// metaFile is where --meta goes. The lines of jobs side by side do not mix.
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

// put writes the record of a job that has ended with err.
func (m *metaFile) put(j *job, failed error) error {
	if m == nil {
		return nil
	}
	r := j.transferRecord(failed)
	m.mu.Lock()
	defer m.mu.Unlock()
	return encode(m.w, r)
}

func (j *job) transferRecord(err error) transferRecord {
	r := transferRecord{Asked: j.asked(), Line: j.line, Length: "unknown", Attempts: j.attempts(), Timings: map[string]float64{}}
	if j.resp != nil {
		r.record = recordOf(j.resp)
		r.Offset = j.resp.Offset
		if j.resp.Size >= 0 {
			r.Length = "known"
		}
	}
	if j.out != nil {
		r.SHA256 = hex.EncodeToString(j.out.Sum())
		if j.out.Name() != standardOutput {
			r.File = j.out.Name()
		}
	}
	if m := j.measure; m != nil {
		r.Date, r.Bytes, r.Notes = m.start.UTC(), m.size, m.notes
		if m.wire != nil {
			r.Wire = &wireRecord{m.sent, m.got, hex.EncodeToString(m.wire.Sum(nil))}
		}
		for p, name := range map[fetch.Phase]string{fetch.Resolved: "resolved", fetch.Connected: "connected", fetch.Secured: "secured", fetch.RequestSent: "asked", fetch.FirstByte: "answered"} {
			if at := m.at(p); at > 0 {
				r.Timings[name] = at.Seconds()
			}
		}
		r.Timings["total"] = m.end.Seconds()
	}
	if err != nil {
		r.Exit, r.Error, r.Fault = j.codeOf(err), err.Error(), fetch.FaultOf(err).String()
		var e *fetch.Error
		if errors.As(err, &e) && r.Code == 0 {
			r.Code = e.Code
		}
	}
	return r
}

// asked is the URL as it was given, without its password.
func (j *job) asked() string {
	u, _, err := j.taken(j.text)
	if err != nil {
		return "(malformed)" // and who knows where a password stands in it
	}
	return u.String()
}
