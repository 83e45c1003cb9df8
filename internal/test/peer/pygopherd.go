package peer

import "fmt"

// PygopherdOptions configures pygopherd.
type PygopherdOptions struct {
	TLS  bool  // TLS on the same port: TLSAddr is Addr
	Cert *Cert // nil: NewCert with zero options
}

// Pygopherd starts the Gopher server pygopherd (Debian pygopherd), which serves
// Root by Gopher and Gopher+. Directories, gophermap files, UMN .Links files
// and mbox files are menus. Files named *.abstract and *.ask contain Gopher+
// attributes.
func Pygopherd(t TB, opts PygopherdOptions) *Server {
	t.Helper()
	program := Need(t, "pygopherd", "pygopherd")
	s := newServer(t)
	if opts.TLS {
		s.certify(opts.Cert)
	}
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		tls := "enable_tls = no"
		if s.Cert != nil {
			s.TLSAddr = s.Addr
			tls = fmt.Sprintf("enable_tls = yes\ntls_certfile = %s\ntls_keyfile = %s", s.Cert.File, s.Cert.KeyFile)
		}
		conf := s.config("pygopherd.conf", fmt.Sprintf(pygopherdConfig, host, base, host, s.Root, tls))
		return command{path: program, args: []string{conf}, user: unprivileged()}
	})
}

// pygopherdConfig contains all options, because pygopherd has no defaults. With
// a cachetime of 0, new files are visible immediately.
const pygopherdConfig = `
[pygopherd]
interface = %s
port = %d
servername = %s
root = %s
%s
detach = no
servertype = ThreadingTCPServer
timeout = 60
usechroot = no
tracebacks = yes
abstract_headers = on
abstract_entries = always
mimetypes = /etc/mime.types
encoding = list(mimetypes.encodings_map.items())

[logger]
logmethod = file

[GopherEntry]
defaultmimetype = text/plain
mapping = [['text/html', 'h'], ['text/.+', '0'], ['application/mac-binhex40', '4'],
	['audio/.+', 's'], ['image/gif', 'g'], ['image/.+', 'I'],
	['application/gopher-menu', '1'], ['application/gopher\+-menu', '1'],
	['multipart/mixed', 'M'], ['application/.+', '9'], ['.*', '0']]
eaexts = {'.abstract': 'ABSTRACT', '.keywords': 'KEYWORDS', '.ask': 'ASK', '.3d': '3D'}

[handlers.HandlerMultiplexer]
handlers = [url.HTMLURLHandler, gophermap.BuckGophermapHandler,
	mbox.MaildirFolderHandler, mbox.MaildirMessageHandler, UMN.UMNDirHandler,
	html.HTMLFileTitleHandler, mbox.MBoxMessageHandler, mbox.MBoxFolderHandler,
	file.FileHandler]

[handlers.dir.DirHandler]
ignorepatt = /gophermap$|\.abstract$|\.keywords$|\.ask$|\.3d$
cachetime = 0
cachefile = .cache.pygopherd.dir

[handlers.UMN.UMNDirHandler]
extstrip = nonencoded

[handlers.ZIP.ZIPHandler]
enabled = false
pattern = \.zip$

[protocols.ProtocolMultiplexer]
protocols = [gopherp.GopherPlusProtocol, gopherp.SecureGopherPlusProtocol,
	rfc1436.GopherProtocol, rfc1436.SecureGopherProtocol]

[protocols.gopherp.GopherPlusProtocol]
admin = Nobody <nobody@example.org>
`
