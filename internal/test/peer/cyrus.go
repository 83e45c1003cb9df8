package peer

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Cyrus is a running Cyrus imapd.
type Cyrus struct {
	*Server
	POPAddr string // address of the POP3 server of CyrusPOP3D
}

// CyrusImapd starts the IMAP server of Cyrus (Debian cyrus-imapd). User may log
// in over plaintext connections with PLAIN, LOGIN, CRAM-MD5 and SCRAM. The
// server does not support ANONYMOUS.
func CyrusImapd(t TB) *Cyrus {
	t.Helper()
	return startCyrus(t, "")
}

// CyrusPOP3D starts the IMAP server and the POP3 server of Cyrus (Debian
// cyrus-pop3d), which share the mailbox INBOX. The POP3 server announces APOP.
func CyrusPOP3D(t TB) *Cyrus {
	t.Helper()
	return startCyrus(t, filepath.Join(packageRoot(t, "cyrus-pop3d", cyrusBin+"/pop3d"), cyrusBin, "pop3d"))
}

// cyrusBin is the directory of the programs of Cyrus in its packages.
const cyrusBin = "usr/lib/cyrus/bin"

// startCyrus starts Cyrus. If pop is not empty, it is the path of the POP3
// server.
func startCyrus(t TB, pop string) *Cyrus {
	t.Helper()
	const bin = cyrusBin
	common := packageRoot(t, "cyrus-common", bin+"/master")
	imapd := filepath.Join(packageRoot(t, "cyrus-imapd", bin+"/imapd"), bin, "imapd")
	password := Need(t, "saslpasswd2", "sasl2-bin")
	NeedRoot(t, "cyrus-imapd")
	s := newServer(t)
	for _, dir := range []string{"spool", "conf", "conf/db", "conf/lock", "conf/log", "conf/msg", "conf/proc", "conf/quota", "conf/socket", "conf/tmp", "conf/user"} {
		s.mkdir(filepath.Join(s.Dir, dir), mailUser)
	}
	s.cyrusUser(password)
	config := s.config("imapd.conf", cyrusConfig(s.Dir))
	c := &Cyrus{Server: s}
	s.start(func(base uint16) command {
		s.Addr = addr(base)
		lines := fmt.Sprintf("\timap cmd=\"%s -C %s\" listen=\"%s\" prefork=0\n", imapd, config, s.Addr)
		if pop != "" {
			c.POPAddr = addr(base + 1)
			lines += fmt.Sprintf("\tpop3 cmd=\"%s -C %s\" listen=\"%s\" prefork=0\n", pop, config, c.POPAddr)
		}
		services := s.config("cyrus.conf", "START {\n}\nSERVICES {\n"+lines+"}\nEVENTS {\n}\n")
		return command{
			path: filepath.Join(common, bin, "master"),
			args: []string{"-D", "-C", config, "-M", services, "-p", filepath.Join(s.Dir, "conf", "pid")},
			env:  []string{"LD_LIBRARY_PATH=" + filepath.Join(common, "usr/lib/x86_64-linux-gnu")},
		}
	})
	s.greeted(s.Addr, "* OK [CAPABILITY ")
	return c
}

// cyrusUser creates the password database of Cyrus with the account User. The
// realm of the database is the host name.
func (s *Server) cyrusUser(program string) {
	s.t.Helper()
	realm, err := os.Hostname()
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	db := filepath.Join(s.Dir, "sasldb")
	c := exec.Command(program, "-f", db, "-u", realm, "-c", "-p", User)
	c.Stdin = strings.NewReader(Password)
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("peer: saslpasswd2: %v: %s", err, out)
	}
	if err := chown(db, mailUser); err != nil {
		s.t.Fatalf("peer: %v", err)
	}
}

func cyrusConfig(dir string) string {
	return fmt.Sprintf(`configdirectory: %[1]s/conf
defaultpartition: default
partition-default: %[1]s/spool
cyrus_user: %[2]s
cyrus_group: nogroup
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: %[1]s/sasldb
sasl_mech_list: PLAIN LOGIN CRAM-MD5 SCRAM-SHA-1 SCRAM-SHA-256 ANONYMOUS
allowplaintext: yes
allowanonymouslogin: yes
unixhierarchysep: yes
autocreate_inbox_folders: lists
autocreate_quota: -1
failedloginpause: 0
`, dir, mailUser)
}

// Add appends a message with CRLF line ends to a mailbox of User. Add creates
// the mailbox if necessary.
func (s *Cyrus) Add(mailbox, message string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(startTime))
	in := bufio.NewReader(conn)
	for i, c := range []string{
		fmt.Sprintf("LOGIN %s %s", User, Password),
		fmt.Sprintf("CREATE %q", mailbox), // fails if the mailbox exists
		fmt.Sprintf("APPEND %q {%d+}\r\n%s", mailbox, len(message), message),
		"LOGOUT",
	} {
		tag := fmt.Sprintf("p%d ", i)
		fmt.Fprintf(conn, "%s%s\r\n", tag, c)
		for line := ""; !strings.HasPrefix(line, tag); {
			if line, err = in.ReadString('\n'); err != nil {
				s.t.Fatalf("peer: %s: %v", c, err)
			}
			if strings.HasPrefix(line, tag+"BAD") || strings.HasPrefix(line, tag+"NO") && !strings.HasPrefix(c, "CREATE") {
				s.t.Fatalf("peer: %s: %s", c, line)
			}
		}
	}
}
