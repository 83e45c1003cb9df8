package peer

import (
	"os"
	"path/filepath"
)

// Reader is the access key of an account of Versitygw that has no permissions
// until a bucket policy grants some. Its secret key is Password.
const Reader = "reader"

// Versitygw starts the S3 server versitygw, which "make peers" builds from the
// module github.com/versity/versitygw. Its administrator has the access key User
// and the secret key Password. The region is us-east-1, and the address of a
// bucket is http://ADDR/BUCKET. The files of an object are below Root.
//
// If versitygw is missing, the test is skipped. With CI=true in the environment,
// the test fails instead.
func Versitygw(t TB, buckets ...string) *Server {
	t.Helper()
	skipShort(t, "versitygw")
	program := filepath.Join(unpacked, "versitygw@v1.8.0", "versitygw")
	if _, err := os.Stat(program); err != nil {
		skip(t, "%s is absent: make peers builds it", program)
	}
	s := newServer(t)
	for _, b := range buckets {
		s.mkdir(filepath.Join(s.Root, b), "")
	}
	meta, accounts := filepath.Join(s.Dir, "meta"), filepath.Join(s.Dir, "iam")
	s.mkdir(meta, "")
	s.mkdir(accounts, "")
	users := `{"accessAccounts": {"` + Reader + `": {"access": "` + Reader + `", "secret": "` + Password + `", "role": "user"}}}`
	s.put(accounts, "users.json", []byte(users))
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		args := []string{"--access", User, "--secret", Password, "--port", s.Addr, "--iam-dir", accounts, "--keep-alive", "--quiet",
			"posix", "--sidecar", meta, s.Root}
		return command{path: program, args: args}
	})
}
