package clientflags

import (
	"runtime"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/ftp"
)

// ftpFlags are the flags for ftp and ftps URLs in all commands that use the
// network.
type ftpFlags struct {
	method      string
	port        string
	passive     bool // ignored, because passive mode is the default
	skipPASVIP  bool // ignored, because the address in a reply to PASV is never used
	disableEPSV bool
	disableEPRT bool
	pret        bool
	tlsControl  bool
	account     string
	alternative string
	anonymous   string
}

func (f *ftpFlags) register(s *options.Set) {
	p := s.Section("FTP")
	p.StringVar(&f.method, "ftp-method", "multicwd", "change directories by `METHOD`: multicwd (default), singlecwd, nocwd")
	options.SetValues(p.Lookup("ftp-method"), "multicwd", "singlecwd", "nocwd")
	p.StringVarP(&f.port, "ftp-port", "P", "", "use active mode with the local `ADDRESS` (- for the default address)")
	p.BoolVar(&f.passive, "ftp-pasv", false, "use passive mode (default)")
	p.BoolVar(&f.skipPASVIP, "ftp-skip-pasv-ip", true, "ignore the address in the reply to PASV (default)")
	p.BoolVar(&f.disableEPSV, "disable-epsv", false, "use PASV instead of EPSV")
	p.BoolVar(&f.disableEPRT, "disable-eprt", false, "use PORT instead of EPRT")
	p.BoolVar(&f.pret, "ftp-pret", false, "send PRET before PASV")
	p.BoolVar(&f.tlsControl, "ftp-ssl-control", false, "require TLS for the login, but not for data transfer")
	p.StringVar(&f.account, "ftp-account", "", "send `TEXT` if the server requests an account")
	p.StringVar(&f.alternative, "ftp-alternative-to-user", "", "send `COMMAND` if the server rejects USER")
	p.StringVar(&f.anonymous, "ftp-anonymous", "", "send `PASSWORD` for anonymous logins (default fetch@)")
	p.Lookup("ftp-pasv").Hidden = true
	p.Lookup("ftp-skip-pasv-ip").Hidden = true
}

// options converts the flags to options of the ftp package.
func (f *ftpFlags) options(tls scheme.TLSMode, ignoreSize bool) (ftp.Options, error) {
	method, err := ftp.ParseMethod(f.method)
	if err != nil {
		return ftp.Options{}, err
	}
	o := ftp.Options{
		Method: method, Active: f.port, NoEPSV: f.disableEPSV, NoEPRT: f.disableEPRT, PRET: f.pret,
		TLS: tls, ClearData: f.tlsControl, Account: fetch.Secret(f.account), Alternative: f.alternative,
		Anonymous: f.anonymous, IgnoreSize: ignoreSize,
	}
	if f.tlsControl {
		o.TLS = scheme.TLSRequired
	}
	return o, nil
}

// FTPObjectFlags are the flags for ftp and ftps URLs in commands that retrieve
// single objects.
type FTPObjectFlags struct {
	ascii    bool
	listOnly bool
}

func (f *FTPObjectFlags) Register(s *options.Set) {
	p := s.Section("FTP")
	p.BoolVarP(&f.ascii, "use-ascii", "B", false, "transfer in ASCII mode (add --raw to keep CRLF line ends)")
	p.BoolVarP(&f.listOnly, "list-only", "l", false, "list only the names in a directory")
}

// Apply sets the transfer mode in o. If localLines is true, ASCII transfers use
// the line endings of the operating system.
func (f *FTPObjectFlags) Apply(o *ftp.Options, localLines bool) {
	o.ASCII, o.NamesOnly = f.ascii, f.listOnly
	o.LF = localLines && runtime.GOOS != "windows"
}
