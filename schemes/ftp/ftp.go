package ftp

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/dirlist"
	"github.com/anyurl/fetch/internal/sessions"
)

// Options say how servers are spoken to. The zero value is right.
type Options struct {
	Method    Method // how a path becomes commands
	ASCII     bool   // TYPE A where the URL says nothing
	NamesOnly bool   // list by NLST
	LF        bool   // in texts and listings, LF for the CR LF that the server sends: RFC 959 3.1.1.1

	// Active has the server connect to us, at our address of the control
	// connection: "-", or that address. Empty: we connect to the server.
	Active string
	NoEPSV bool // PASV at once, over IPv4
	NoEPRT bool // PORT at once, over IPv4
	PRET   bool // announce each transfer by PRET, as distributed servers want

	TLS       fetch.TLSMode // of ftp (RFC 4217), by default never; ftps is always encrypted
	ClearData bool          // only the control connection is encrypted

	Anonymous   string       // password of the anonymous user; "": "fetch@"
	Account     fetch.Secret // for ACCT, where the Credential has none
	Alternative string       // a command in place of a USER that was refused

	IgnoreSize bool // do not ask: the file may be growing
}

// Method is a way from the segments of a path to a file.
type Method uint8

const (
	MultiCWD  Method = iota // a CWD for each segment, as RFC 1738 has it
	SingleCWD               // one CWD for the directory, its segments joined by "/"
	NoCWD                   // none: the path stands in the last command
)

// ParseMethod reads the name of a Method: multicwd, singlecwd or nocwd.
func ParseMethod(name string) (Method, error) {
	switch name {
	case "multicwd":
		return MultiCWD, nil
	case "singlecwd":
		return SingleCWD, nil
	case "nocwd":
		return NoCWD, nil
	}
	return 0, fetch.Usage.Errorf("ftp method %q is none of multicwd, singlecwd, nocwd", name)
}

// Schemes returns ftp and ftps.
func Schemes(opts Options) []fetch.Scheme {
	return []fetch.Scheme{opts.scheme("ftp", 21, false), opts.scheme("ftps", 990, true)}
}

func (o Options) scheme(name string, port uint16, implicit bool) fetch.Scheme {
	s := fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Secure: implicit,
		Ports:  fetch.Ports{Extra: []uint16{990}, Class: fetch.TextPorts},
		Links:  fetch.Links{To: []string{"ftp", "ftps", "http", "https"}},
		Traits: fetch.Traits{ControlConn: true, WeakValidators: true, ListsExactSizes: true, ReportsSize: true},
		Proxy:  fetch.ByRequest,
		Mirror: fetch.Mirroring{Record: fetch.RecordLines, Talk: "ftp-control", Subtree: below},
		Plan:   func(req *fetch.Request) ([]fetch.Step, error) { return o.plan(req, implicit) },
		Open: func(env fetch.Env) fetch.Driver {
			return &driver{
				Options:  o,
				env:      env,
				port:     port,
				implicit: implicit,
				idle:     sessions.Pool[*session]{Done: env.Done, WaitTimeout: waitForTurn},
			}
		},
		Menu: dirlist.Menu,
	}
	if implicit {
		s.Ports.Extra, s.Links.To = []uint16{21}, []string{"ftps", "https"}
		s.Proxy = fetch.ByDriver
	}
	return s
}
