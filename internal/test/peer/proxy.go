package peer

// ProxyOptions configures a proxy. By default, all clients may connect to all
// targets.
type ProxyOptions struct {
	Login  bool     // only User with Password may use the proxy
	TLS    bool     // also accept TLS connections to the proxy on TLSAddr; only squid supports it
	Cert   *Cert    // nil: NewCert with zero options
	Env    []string // added to the environment of squid
	Config []string // further lines of configuration, or arguments of microsocks
}
