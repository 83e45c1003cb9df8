package peer

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"

	//lint:ignore SA1019 the passwords of SMB are stored as MD4 digests
	"golang.org/x/crypto/md4"
)

// Smbd starts the SMB server smbd (Debian samba) with four shares of Root: "files"
// is for everybody, "private" for User with Password, "secret" is for User
// over encrypted connections, and "hidden" is not listed. An unknown user is
// logged in as a guest. The lines of global are added to the configuration, such
// as "server signing = mandatory".
func Smbd(t TB, global ...string) *Server {
	t.Helper()
	program := Need(t, "smbd", "samba")
	NeedRoot(t, "smbd")
	s := newServer(t)
	env := s.accounts(nil)
	for _, dir := range []string{"private", "lock", "state", "cache", "run", "rpc"} {
		s.mkdir(filepath.Join(s.Dir, dir), "")
	}
	t.Cleanup(s.endHelper)
	passwords := filepath.Join(s.Dir, "smbpasswd")
	s.write(passwords, fmt.Appendf(nil, "%s:65534:%032d:%X:[U          ]:LCT-60000000:\n", User, 0, ntHash(Password)), 0o600, "")
	more := strings.Join(global, "\n")
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		config := s.config("smb.conf", fmt.Sprintf(smbConfig, s.Dir, base, host, passwords, s.Root, more, User))
		return command{path: program, env: env, args: []string{"--foreground", "--no-process-group", "--debug-stdout", "--configfile=" + config}}
	})
}

// endHelper stops smbd, and ends samba-dcerpcd, which smbd starts in a session of
// its own when a client requests the list of shares.
func (s *Server) endHelper() {
	if s.end != nil {
		s.end()
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, "run", "samba-dcerpcd.pid"))
	if err != nil {
		return
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		if p, err := os.FindProcess(pid); err == nil {
			kill(p)
		}
	}
}

const smbConfig = `[global]
server role = standalone server
map to guest = bad user
guest account = nobody
smb ports = %[2]d
interfaces = %[3]s/8
bind interfaces only = yes
passdb backend = smbpasswd:%[4]s
private dir = %[1]s/private
lock directory = %[1]s/lock
state directory = %[1]s/state
cache directory = %[1]s/cache
pid directory = %[1]s/run
ncalrpc dir = %[1]s/rpc
load printers = no
printing = bsd
disable spoolss = yes
disable netbios = yes
usershare max shares = 0
server smb encrypt = if_required
read only = yes
path = %[5]s
%[6]s
[files]
comment = test files
guest ok = yes
[private]
valid users = %[7]s
[secret]
valid users = %[7]s
server smb encrypt = required
[hidden]
guest ok = yes
browseable = no
`

// ntHash returns the digest of a password in the files of SMB servers.
func ntHash(password string) []byte {
	h := md4.New()
	for _, c := range utf16.Encode([]rune(password)) {
		h.Write(binary.LittleEndian.AppendUint16(nil, c))
	}
	return h.Sum(nil)
}
