package peer

// ProxyOptions says how a proxy differs from one that lets everyone reach
// everything.
type ProxyOptions struct {
	Login  bool     // only User with Password may use it
	TLS    bool     // also on TLSAddr: TLS to the proxy itself; squid alone knows it
	Cert   *Cert    // nil: NewCert with zero options
	Config []string // further lines of configuration; for microsocks arguments
}
