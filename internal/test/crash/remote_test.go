package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/postgres"
	"github.com/anyurl/fetch/mirror/s3"
)

// A remote is a database in PostgreSQL and a bucket of an S3 server, which a
// command uses in addition to its folder. Each reset of a trial selects an empty
// schema and an empty folder of the bucket, with the number run.
type remote struct {
	db, store *peer.Server
	run       int
}

// bucket is the bucket of a remote.
const bucket = "warcs"

func newRemote(t *testing.T) *remote {
	return &remote{db: peer.Postgres(t, false), store: peer.Versitygw(t, bucket)}
}

// replace replaces FRONTIER and STORE by the URLs of the remote.
func (r *remote) replace(arg string) string {
	if r == nil {
		return arg
	}
	return strings.NewReplacer("FRONTIER", r.frontierURL(), "STORE", r.storeURL()).Replace(arg)
}

func (r *remote) frontierURL() string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?search_path=run%d", r.db.Addr, r.run)
}

func (r *remote) storeURL() string {
	return fmt.Sprintf("s3://%s/run%d?region=us-east-1&endpoint=http://%s", bucket, r.run, r.store.Addr)
}

// keys are the environment variables with the access key of the store.
var keys = []string{"AWS_ACCESS_KEY_ID=" + peer.User, "AWS_SECRET_ACCESS_KEY=" + peer.Password}

// getenv returns the value of a variable in keys.
func getenv(name string) string {
	for _, k := range keys {
		if value, ok := strings.CutPrefix(k, name+"="); ok {
			return value
		}
	}
	return ""
}

// describe adds the records of the objects in the store, the findings of Verify
// and the rows of the database.
func (r *remote) describe(t *testing.T, add func(string, ...any)) {
	t.Helper()
	dir := filepath.Join(r.store.Root, bucket, fmt.Sprint("run", r.run))
	objects, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, o := range objects {
		if strings.HasPrefix(o.Name(), ".fetch-check-") {
			continue // a process that was killed in Store.Check can leave its small object
		}
		body, err := os.ReadFile(filepath.Join(dir, o.Name()))
		if err != nil {
			t.Fatal(err)
		}
		describe("store/"+o.Name(), body, add)
	}
	place := mirror.Location{Frontier: postgres.New(r.frontierURL()), Store: s3.New(r.storeURL(), s3.Options{Getenv: getenv})}
	describeArchive(t, place, dir, add)
	workers, err := mirror.Open(place).Workers(t.Context())
	if err != nil {
		add("workers: %v", err)
	}
	for _, w := range workers {
		add("worker %s: files remain that are not stored: %t", w.Name, w.Files != w.Stored)
	}
}
