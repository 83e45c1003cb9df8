package peer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Realm is the realm of the servers that KDC starts.
const Realm = "PEER.TEST"

// KDC starts the key distribution center of MIT Kerberos (Debian krb5-kdc) on
// Addr, over TCP. Its realm is Realm. The account User has the password Password,
// and the service HTTP on localhost has a key. Dir has the files krb5.conf,
// http.keytab with the key of the service, and user.keytab with the one of User.
func KDC(t TB) *Server {
	t.Helper()
	kdc, util, admin := Need(t, "krb5kdc", "krb5-kdc"), Need(t, "kdb5_util", "krb5-kdc"), Need(t, "kadmin.local", "krb5-admin-server")
	plugins, _ := filepath.Glob(filepath.Join(packageRoot(t, "krb5-kdc", "usr/sbin/krb5kdc"), "usr/lib/*/krb5/plugins/kdb"))
	if len(plugins) != 1 {
		t.Fatalf("peer: the Debian package krb5-kdc has %d folders of modules", len(plugins))
	}
	s := newServer(t)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		env := []string{"KRB5_CONFIG=" + s.config("krb5.conf", fmt.Sprintf(`[libdefaults]
	default_realm = %[1]s
	dns_lookup_kdc = false
	dns_lookup_realm = false
	dns_canonicalize_hostname = false
	rdns = false
[realms]
	%[1]s = {
		kdc = %[2]s
	}
`, Realm, s.Addr)), "KRB5_KDC_PROFILE=" + s.config("kdc.conf", fmt.Sprintf(`[kdcdefaults]
	kdc_listen = ""
	kdc_tcp_listen = %[2]s
[realms]
	%[1]s = {
		database_name = %[3]s/principal
		key_stash_file = %[3]s/stash
		acl_file = %[3]s/acl
		supported_enctypes = aes256-cts-hmac-sha1-96:normal
	}
[dbmodules]
	db_module_dir = %[4]s
[logging]
	kdc = STDERR
`, Realm, s.Addr, s.Dir, plugins[0]))}
		s.kerberos(env, util, "destroy", "-f", "-r", Realm) // of an earlier attempt
		for _, args := range [][]string{
			{util, "create", "-s", "-P", "master", "-r", Realm},
			{admin, "-q", "addprinc -pw " + Password + " +requires_preauth " + User},
			{admin, "-q", "addprinc -randkey HTTP/localhost"},
			{admin, "-q", "ktadd -k " + s.Dir + "/http.keytab HTTP/localhost"},
			{admin, "-q", "ktadd -norandkey -k " + s.Dir + "/user.keytab " + User},
		} {
			if out, err := s.kerberos(env, args...); err != nil {
				s.t.Fatalf("peer: %q: %v: %s", args, err, out)
			}
		}
		if err := os.Chmod(filepath.Join(s.Dir, "http.keytab"), 0o644); err != nil {
			s.t.Fatalf("peer: %v", err)
		}
		return command{path: kdc, args: []string{"-n"}, env: env}
	})
}

// kerberos runs a program of Kerberos.
func (s *Server) kerberos(env []string, args ...string) ([]byte, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), env...)
	return c.CombinedOutput()
}

// Kinit gets a ticket of User with kinit (Debian krb5-user), and returns the file
// of its cache.
func Kinit(t TB, kdc *Server) string {
	t.Helper()
	cache := filepath.Join(kdc.Dir, "cache")
	env := []string{"KRB5_CONFIG=" + filepath.Join(kdc.Dir, "krb5.conf"), "KRB5CCNAME=FILE:" + cache}
	if out, err := kdc.kerberos(env, Need(t, "kinit", "krb5-user"), "-k", "-t", filepath.Join(kdc.Dir, "user.keytab"), User); err != nil {
		t.Fatalf("peer: kinit: %v: %s", err, out)
	}
	return cache
}
