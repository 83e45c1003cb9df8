package peer

import (
	"os"
	"path/filepath"
)

// GoFakeS3 starts the S3 server gofakes3 with one bucket, which is empty. "make
// peers" builds it from the module github.com/johannesboyne/gofakes3. It keeps
// objects in memory with all their versions, and ignores signatures. An object
// is created by an HTTP request PUT http://ADDR/BUCKET/KEY.
//
// If gofakes3 is missing, the test is skipped. With CI=true in the environment,
// the test fails instead.
func GoFakeS3(t TB, bucket string) *Server {
	t.Helper()
	skipShort(t, "gofakes3")
	program := filepath.Join(unpacked, "gofakes3@v1.2.0", "gofakes3")
	if _, err := os.Stat(program); err != nil {
		skip(t, "%s is absent: make peers builds it", program)
	}
	s := newServer(t)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		return command{path: program, args: []string{"-backend", "memory", "-host", s.Addr, "-initialbucket", bucket}}
	})
}
