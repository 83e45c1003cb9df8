package ftp

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/dirlist"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// Options configures the ftp and ftps schemes. The zero value is valid.
type Options struct {
	Method    Method // how a path is converted to CWD commands
	ASCII     bool   // use TYPE A if the URL has no type
	NamesOnly bool   // use NLST for listings
	Hidden    bool   // send LIST -a to servers without MLSD, which may omit hidden files otherwise
	LF        bool   // convert CR LF to LF in texts and listings (RFC 959 3.1.1.1)

	// Active selects active mode, in which the server connects to the client.
	// It is "-" or the local address of the control connection. If it is empty,
	// the client connects to the server.
	Active string
	NoEPSV bool // never send EPSV over IPv4
	NoEPRT bool // never send EPRT over IPv4
	PRET   bool // send PRET before each transfer, for distributed servers

	TLS       scheme.TLSMode // use of AUTH TLS in ftp (RFC 4217); default: never; ftps is always encrypted
	ClearData bool           // encrypt only the control connection

	Anonymous   string       // password of the anonymous user; default: "fetch@"
	Account     fetch.Secret // argument of ACCT if the Credential has none; for servers of URLs that the user entered
	Alternative string       // command to send if the server rejects USER

	IgnoreSize bool // do not send SIZE, because the files may grow during the transfer
}

// A Method determines how a path is converted to CWD commands, as in curl's
// --ftp-method.
type Method uint8

const (
	MultiCWD  Method = iota // one CWD for each segment, as RFC 1738 requires
	SingleCWD               // one CWD for the complete directory
	NoCWD                   // no CWD; the last command contains the complete path
)

// ParseMethod returns the Method with the name multicwd, singlecwd or nocwd.
func ParseMethod(name string) (Method, error) {
	switch name {
	case "multicwd":
		return MultiCWD, nil
	case "singlecwd":
		return SingleCWD, nil
	case "nocwd":
		return NoCWD, nil
	}
	return 0, fetch.Usage.Errorf("unknown ftp method %q: want multicwd, singlecwd or nocwd", name)
}

// Schemes returns the schemes ftp and ftps for [fetch.New].
func Schemes(opts Options) []fetch.Scheme {
	return []fetch.Scheme{opts.scheme("ftp", 21, false), opts.scheme("ftps", 990, true)}
}

func (o Options) scheme(name string, port uint16, implicit bool) fetch.Scheme {
	s := fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Secure: implicit,
		Ports:  scheme.Ports{Extra: []uint16{990}, Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"ftp", "ftps", "http", "https"}},
		Traits: scheme.Traits{ControlConn: true, WeakValidators: true, ListsExactSizes: true, ReportsSize: true, Backslash: true,
			Listing: scheme.Directory, Parents: scheme.Folders},
		Proxy: scheme.ByRequest,
		Mirror: scheme.Mirroring{Record: scheme.RecordLines, Subtree: below,
			Files: scheme.FileNames{Native: true, Path: filePath}},
		Plan: func(req *fetch.Request) ([]scheme.Step, error) { return o.plan(req, implicit) },
		Open: func(env fetch.Env) fetch.Driver {
			return &driver{
				Options:  o,
				env:      env,
				port:     port,
				implicit: implicit,
				idle:     sessions.Pool[*session]{Done: env.Done, WaitTimeout: sessions.SlotTimeout, Permits: sessions.Permits[*session](env.Net)},
			}
		},
		Menu: dirlist.Menu,
	}
	if implicit {
		s.Ports.Extra, s.Links.To = []uint16{21}, []string{"ftps", "https"}
		s.Proxy = scheme.ByDriver
	}
	return s
}
