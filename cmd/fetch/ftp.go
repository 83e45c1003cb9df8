package main

import (
	"runtime"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/spf13/pflag"
)

// ftpFlags are for ftp and ftps alone.
type ftpFlags struct {
	ascii       bool
	method      string
	listOnly    bool
	port        string
	passive     bool // always on, as is skipPASVIP
	skipPASVIP  bool
	disableEPSV bool
	disableEPRT bool
	pret        bool
	ssl         bool
	sslReqd     bool
	sslControl  bool
	account     string
	alternative string
	anonymous   string
}

func (f *ftpFlags) register(p *pflag.FlagSet) {
	p.BoolVarP(&f.ascii, "use-ascii", "B", false, "transfer as text (ftp); lines end in LF, with --raw as they came")
	p.StringVar(&f.method, "ftp-method", "multicwd", "how a path becomes commands: multicwd, singlecwd or nocwd")
	p.BoolVarP(&f.listOnly, "list-only", "l", false, "list names alone (ftp)")
	p.StringVarP(&f.port, "ftp-port", "P", "", "have the server connect to us, at `ADDRESS` (- is the one it sees)")
	p.BoolVar(&f.passive, "ftp-pasv", false, "connect to the server (always on)")
	p.BoolVar(&f.skipPASVIP, "ftp-skip-pasv-ip", true, "ignore the address in a reply to PASV (always on)")
	p.BoolVar(&f.disableEPSV, "disable-epsv", false, "use PASV at once")
	p.BoolVar(&f.disableEPRT, "disable-eprt", false, "use PORT at once")
	p.BoolVar(&f.pret, "ftp-pret", false, "announce transfers by PRET")
	p.BoolVar(&f.ssl, "ssl", false, "encrypt where the server can (ftp, imap, nntp)")
	p.BoolVar(&f.sslReqd, "ssl-reqd", false, "encrypt, or fail")
	p.BoolVar(&f.sslControl, "ftp-ssl-control", false, "encrypt the control connection alone, or fail")
	p.StringVar(&f.account, "ftp-account", "", "answer a server that wants an account with `TEXT`")
	p.StringVar(&f.alternative, "ftp-alternative-to-user", "", "send `COMMAND` where the user is refused")
	p.StringVar(&f.anonymous, "ftp-anonymous", "", "the password of the anonymous user (default fetch@)")
	p.Lookup("ftp-pasv").Hidden = true
	p.Lookup("ftp-skip-pasv-ip").Hidden = true
}

// options takes from other flags whether sizes are believed and whether texts
// stay as they come.
func (f *ftpFlags) options(ignoreSize, raw bool) (ftp.Options, error) {
	method, err := ftp.ParseMethod(f.method)
	if err != nil {
		return ftp.Options{}, err
	}
	o := ftp.Options{
		Method: method, ASCII: f.ascii, NamesOnly: f.listOnly, Active: f.port, NoEPSV: f.disableEPSV, NoEPRT: f.disableEPRT,
		PRET: f.pret, ClearData: f.sslControl, Account: fetch.Secret(f.account), Alternative: f.alternative,
		Anonymous: f.anonymous, IgnoreSize: ignoreSize, LF: !raw && runtime.GOOS != "windows",
	}
	if o.TLS = f.tlsMode(); f.sslControl {
		o.TLS = fetch.TLSRequired
	}
	return o, nil
}

// tlsMode returns the mode that --ssl and --ssl-reqd select for ftp, imap and
// nntp.
func (f *ftpFlags) tlsMode() fetch.TLSMode {
	switch {
	case f.sslReqd:
		return fetch.TLSRequired
	case f.ssl:
		return fetch.TLSWanted
	}
	return fetch.TLSDefault
}
