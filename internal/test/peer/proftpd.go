package peer

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Proftpd starts the FTP server proftpd (Debian proftpd-core and
// proftpd-mod-crypto). It supports MLST and MLSD with unique facts, HOST, RANG
// and UTF8.
func Proftpd(t TB, opts FTPOptions) *Server {
	t.Helper()
	program := Need(t, "proftpd", "proftpd-core")
	NeedRoot(t, "proftpd")
	s := newServer(t)
	opts.encrypt(s)
	s.accounts(opts.Users) // proftpd reads passwd and group without the wrapper
	return s.start(func(base uint16) command {
		opts.listen(s, base)
		conf := s.config("proftpd.conf", proftpdConfig(s, base, opts))
		return command{path: program, args: []string{"-n", "-q", "-c", conf}}
	})
}

func proftpdConfig(s *Server, base uint16, opts FTPOptions) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	in := func(name string) string { return filepath.Join(s.Dir, name) }
	first, last := passive(base)

	if s.Cert != nil {
		add("ModulePath %s", filepath.Join(packageRoot(s.t, "proftpd-mod-crypto", "usr/lib/proftpd/mod_tls.so"), "usr/lib/proftpd"))
		add("LoadModule mod_tls.c")
	}
	add("ServerType standalone\nUseIPv6 off\nDefaultAddress %s\nSocketBindTight on\nPort %d", host, base)
	add("PassivePorts %d %d", first, last)
	add("User nobody\nGroup nogroup")
	add("PidFile %s\nScoreboardFile %s\nDelayTable none\nDelayEngine off", in("pid"), in("scoreboard"))
	add("SystemLog %s\nTransferLog none\nWtmpLog off", in("proftpd.log"))
	add("AuthOrder mod_auth_file.c\nAuthUserFile %s\nAuthGroupFile %s\nRequireValidShell off", in("passwd"), in("group"))
	if opts.Rate > 0 {
		add("TransferRate RETR %d", opts.Rate)
	}
	if s.Cert != nil {
		options := "NoSessionReuseRequired"
		if opts.Implicit {
			options += " UseImplicitSSL"
		}
		add("TLSEngine on\nTLSRequired off\nTLSLog %s\nTLSOptions %s", in("tls.log"), options)
		add("TLSECCertificateFile %s\nTLSECCertificateKeyFile %s", s.Cert.File, s.key(""))
	}
	add("<Anonymous %s>\nUser ftp\nGroup nogroup\nUserAlias anonymous ftp\nRequireValidShell off\n</Anonymous>", s.Root)
	return strings.Join(append(lines, opts.Config...), "\n") + "\n"
}
