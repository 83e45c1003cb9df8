package clientflags

import "testing"

// TestRemoveUser checks that the requests of other users have no access key and
// no account of ftp, also if the environment has them.
func TestRemoveUser(t *testing.T) {
	var f Flags
	f.Login.User, f.TLS.Cert, f.ftp.account, f.ftp.method = "alice:secret", "client.pem", "secret", "multicwd"
	f.RemoveUser()
	o, err := f.Schemes()
	if err != nil || f.Login.User != "" || f.TLS.Cert != "" || !o.S3.Anonymous || o.FTP.Account != "" {
		t.Errorf("got %v, %+v, %+v, %v", f.Login, o.S3, o.FTP, err)
	}
}
