package peer

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// accounts creates users for one server without changing the users of the
// system. It writes Dir/passwd and Dir/group. The map users contains the
// password of each user. If it is nil, the only user is User. All users have
// the home directory Home, and the anonymous user of FTP has Root. All users
// have the numeric user ID of nobody. The returned environment variables make
// libnss-wrapper read users from these files. The password hashes are in
// Dir/passwd, because the library does not use the shadow file for lookups.
func (s *Server) accounts(users map[string]string) (env []string) {
	s.t.Helper()
	if users == nil {
		users = map[string]string{User: Password}
	}
	s.Home = filepath.Join(s.Dir, "home")
	s.mkdir(s.Home, "")
	var passwd, shadow strings.Builder
	passwd.WriteString("root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n" +
		"sshd:x:65533:65534::/run/sshd:/bin/false\n")
	fmt.Fprintf(&passwd, "ftp:x:65534:65534::%s:/bin/false\n", s.Root)
	for _, name := range slices.Sorted(maps.Keys(users)) {
		hash := s.crypt(users[name])
		fmt.Fprintf(&passwd, "%s:%s:65534:65534::%s:/bin/sh\n", name, hash, s.Home)
		fmt.Fprintf(&shadow, "%s:%s:19000:0:99999:7:::\n", name, hash)
	}
	file := filepath.Join(s.Dir, "passwd")
	s.write(file, []byte(passwd.String()), 0o600, "") // proftpd rejects other modes
	return []string{
		"LD_PRELOAD=" + needLibrary(s.t, "libnss_wrapper.so", "libnss-wrapper"),
		"NSS_WRAPPER_PASSWD=" + file,
		"NSS_WRAPPER_SHADOW=" + s.config("shadow", shadow.String()),
		"NSS_WRAPPER_GROUP=" + s.config("group", "root:x:0:\nnogroup:x:65534:\n"),
	}
}

// crypt returns the MD5-based hash of a password, as used in passwd files
// (crypt(3)).
func (s *Server) crypt(password string) string {
	s.t.Helper()
	cmd := exec.Command(Need(s.t, "openssl", "openssl"), "passwd", "-1", "-stdin")
	cmd.Stdin = strings.NewReader(password + "\n")
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("peer: openssl passwd: %v", err)
	}
	return strings.TrimSpace(string(out))
}
