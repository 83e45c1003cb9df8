package peer

// FTPOptions configures an FTP server. By default, the server accepts plaintext
// connections, anonymous users may read Root, and accounts may read Home and
// its parent directories.
type FTPOptions struct {
	TLS      bool              // offer AUTH TLS on Addr
	Implicit bool              // TLS from the first byte on TLSAddr; Addr is empty
	Cert     *Cert             // nil: NewCert with zero options
	Users    map[string]string // name to password; nil: User with Password
	Rate     int               // limit of each transfer in KiB/s; 0: no limit
	Config   []string          // further lines of configuration, or arguments of pure-ftpd
}

// listen sets the addresses of an FTP server. The control connection uses the
// first port of a block of ports. Data connections use the ports from
// passive(base) on.
func (opts FTPOptions) listen(s *Server, base uint16) {
	if opts.Implicit {
		s.TLSAddr = addr(base)
	} else {
		s.Addr = addr(base)
	}
}

// encrypt creates a certificate for s if the options enable TLS.
func (opts FTPOptions) encrypt(s *Server) {
	s.t.Helper()
	if opts.TLS || opts.Implicit {
		s.certify(opts.Cert)
	}
}

// passive returns the range of ports for data connections.
func passive(base uint16) (first, last uint16) { return base + 2, base + blockSize - 1 }
