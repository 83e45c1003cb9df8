package peer

// FTPOptions says how an ftp server differs from one that lets anonymous
// users read Root and accounts read Home and all above it, in clear text.
type FTPOptions struct {
	TLS      bool              // AUTH TLS on Addr, for those who ask
	Implicit bool              // TLS from the first byte on TLSAddr, and no Addr
	Cert     *Cert             // nil: NewCert with zero options
	Users    map[string]string // name to password; nil: User with Password
	Rate     int               // of each transfer, in KiB a second; 0: as fast as it goes
	Config   []string          // further lines of configuration; for pure-ftpd arguments
}

// listen sets the address of s for the options: the control connection has
// the first port of the block, and passive mode those from passive(base) on.
func (opts FTPOptions) listen(s *Server, base uint16) {
	if opts.Implicit {
		s.TLSAddr = addr(base)
	} else {
		s.Addr = addr(base)
	}
}

// encrypt gives s a certificate where the options ask for one.
func (opts FTPOptions) encrypt(s *Server) {
	s.t.Helper()
	if opts.TLS || opts.Implicit {
		s.certify(opts.Cert)
	}
}

// passive returns the ports for data connections.
func passive(base uint16) (first, last uint16) { return base + 2, base + blockSize - 1 }
