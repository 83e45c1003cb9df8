package main

import (
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestStoreScript runs the scripts in testdata/store. Each script has an S3
// server with the bucket warcs.
func TestStoreScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/store",
		Setup: func(env *testscript.Env) error {
			s := peer.Versitygw(env.T().(peer.TB), "warcs")
			env.Setenv("ENDPOINT", "http://"+s.Addr)
			env.Setenv("S3", "s3://warcs?region=us-east-1&endpoint=http://"+s.Addr)
			env.Setenv("BUCKET", filepath.Join(s.Root, "warcs"))
			env.Setenv("AWS_ACCESS_KEY_ID", peer.User)
			env.Setenv("AWS_SECRET_ACCESS_KEY", peer.Password)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}
