package http

import (
	"github.com/anyurl/fetch/fetch"
)

// Options say how http and https are spoken. The zero value is right for
// most.
type Options struct {
	UserAgent string // "": "fetch"; a User-Agent without value in Request.Header sends none
	PathAsIs  bool   // keep "." and ".." segments in the request line
	HTTP1     bool   // do not offer HTTP/2
	Auth      Auth   // how Request.Auth is proved

	// Compressed asks for gzip, deflate, br and zstd and takes them off: the
	// Body is then the object, of unknown Size and without a Validator.
	Compressed bool

	Legacy Legacy // what is spoken and borne besides today's HTTP/1.1
	Jar    *Jar   // where cookies are kept, for http and https together; nil: nowhere
}

// Schemes returns http and https. What opts hold, the two share.
func Schemes(opts Options) []fetch.Scheme {
	return []fetch.Scheme{scheme("http", 80, &opts), scheme("https", 443, &opts)}
}

func scheme(name string, port uint16, opts *Options) fetch.Scheme {
	s := fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Ports:  fetch.Ports{Class: fetch.WebPorts},
		Traits: fetch.Traits{Web: true, Sizes: true},
		Mirror: fetch.Mirroring{Record: fetch.RecordWire},
		Robots: fetch.Robots{File: "/robots.txt"},
		Proxy:  fetch.ByDriver,
		Plan:   func(req *fetch.Request) ([]fetch.Step, error) { return plan(req, port, opts) },
		Menu:   menu,
		Open:   func(env fetch.Env) fetch.Driver { return newDriver(env, port, opts) },
	}
	if s.Secure = port == webPorts["https"]; s.Secure {
		s.Links = fetch.Links{To: []string{"https"}, Downgrade: []string{"http"}}
	} else { // as in curl, wget and lynx
		s.Links.To = []string{"http", "https", "ftp", "ftps"}
		s.Ports.Extra = []uint16{443}
	}
	return s
}
