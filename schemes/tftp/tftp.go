// Package tftp implements the tftp scheme, which names files of a TFTP server
// (RFC 3617).
//
// Pass the result of [Schemes] to fetch.New. The driver implements the protocol
// of RFC 1350 with the options blksize, tsize and timeout (RFC 2347 to 2349).
// The server answers from another port of the same host. Files of more than
// 65535 blocks are retrieved, with block numbers that continue at 0 or at 1. The
// protocol has no listings and no ranges, so that a transfer cannot be resumed.
package tftp

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// port is the default port.
const port = 69

// Options configures the tftp scheme. The zero value is valid.
type Options struct {
	// BlockSize is the block size in bytes that is requested from the server,
	// from 8 to 65464. Zero means 1428, so that a datagram fits into one packet
	// of an Ethernet. Servers without options use 512.
	BlockSize int

	// If NoOptions is true, no options are sent. Some old servers do not answer
	// requests with options.
	NoOptions bool
}

const (
	defaultBlock = 512 // block size of servers without options
	usualBlock   = 1428
	minBlock     = 8 // RFC 2348
	maxBlock     = 65464
)

// Schemes returns the scheme tftp.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "tftp",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Traits: scheme.Traits{ReportsSize: true},
		Proxy:  scheme.ByDriver,
		Plan:   o.plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env, o} },
	}}
}

// plan returns the first datagram that the driver sends for req.
func (o Options) plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	q, err := o.request(l, false)
	if err != nil {
		return nil, err
	}
	return []scheme.Step{{Verb: "RRQ", Arg: q.String()}}, nil
}

// request returns the read request for l.
func (o Options) request(l locator, noOptions bool) (q request, err error) {
	block := o.BlockSize
	switch {
	case block == 0:
		block = usualBlock
	case block < minBlock || block > maxBlock:
		return q, fetch.Usage.Errorf("block size of tftp must be from %d to %d", minBlock, maxBlock)
	}
	q = request{locator: l, block: defaultBlock}
	if !o.NoOptions && !noOptions {
		q.options, q.block = true, block
	}
	if len(q.append(nil)) > maxRequest {
		return q, fetch.BadURL.Errorf("file name is too long for a tftp request")
	}
	return q, nil
}

// A locator contains the parts of a tftp URL.
type locator struct {
	file string
	mode string // "octet" or "netascii"
}

// locate parses a tftp URL (RFC 3617 section 3). The first slash is not part of
// the file name.
func locate(u uri.URI) (l locator, err error) {
	if _, ok := u.Query(); ok {
		return l, fetch.BadURL.Errorf(`tftp URL must not have a query: write "?" as %%3F`)
	}
	if _, ok := u.Userinfo(); ok {
		return l, fetch.BadURL.Errorf("tftp URL must not have a user")
	}
	path, params, hasParams := strings.Cut(u.Path(), ";")
	if l.file, err = uri.Unescape(strings.TrimPrefix(path, "/")); err != nil {
		return l, fetch.BadURL.With(err)
	}
	l.mode = "octet"
	if hasParams {
		mode, ok := textform.CutPrefixFold(params, "mode=")
		l.mode = strings.ToLower(mode)
		if !ok || l.mode != "octet" && l.mode != "netascii" {
			return l, fetch.BadURL.Errorf("parameter of a tftp URL must be ;mode=octet or ;mode=netascii")
		}
	}
	switch {
	case u.Host() == "" || l.file == "":
		return l, fetch.BadURL.Errorf("tftp URL must have a host and a file, such as tftp://HOST/FILE")
	case textform.HasControl(l.file):
		return l, fetch.BadURL.Errorf("control character in a file name")
	}
	return l, nil
}
