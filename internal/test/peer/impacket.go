package peer

import (
	"fmt"
	"os/exec"
)

// Impacket starts the SMB server of impacket (Debian python3-impacket), which
// supports SMB 2.0.2. The share "FILES" of Root is for everybody. If login is
// true, it is for User with Password.
func Impacket(t TB, login bool) *Server {
	t.Helper()
	skipShort(t, "impacket")
	const python = "/usr/bin/python3" // Debian's, because another one has no packages of Debian
	if err := exec.Command(python, "-c", "import impacket.smbserver").Run(); err != nil {
		skip(t, "impacket is absent: install the Debian package python3-impacket (make peers)")
	}
	s := newServer(t)
	credential := ""
	if login {
		credential = fmt.Sprintf("server.addCredential(%q, 0, compute_lmhash(%q), compute_nthash(%q))", User, Password, Password)
	}
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		program := s.config("smbserver.py", fmt.Sprintf(impacketProgram, host, base, s.Root, credential))
		return command{path: python, args: []string{program}, user: unprivileged()}
	})
}

const impacketProgram = `
from impacket import smbserver
from impacket.ntlm import compute_lmhash, compute_nthash
server = smbserver.SimpleSMBServer(listenAddress=%q, listenPort=%d)
server.addShare("FILES", %q, "test files")
server.setSMB2Support(True)
server.setLogFile("")
%s
server.start()
`
