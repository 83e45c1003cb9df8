package sqlite_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/frontiertest"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// Engines under test: disk has a file, and memory has none.
var (
	disk = frontiertest.Engine{
		Place: func(t testing.TB) string { return filepath.Join(t.TempDir(), "front.db") },
		Open:  openClock,
		Lasts: true,
		Copy:  copyPlace,
	}
	memory = frontiertest.Engine{
		Place: func(testing.TB) string { return "mem:" },
		Open:  openClock,
	}
)

func openClock(ctx context.Context, place string, now func() time.Time) (frontier.Frontier, error) {
	return sqlite.OpenClock(ctx, place, now)
}

// copyPlace copies the database at place with its log and returns the path of
// the copy.
func copyPlace(t testing.TB, place string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	for _, ext := range []string{"", "-wal"} {
		in, err := os.Open(place + ext)
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(to + ext)
		if err == nil {
			_, err = io.Copy(out, in)
		}
		if err = errors.Join(err, in.Close(), out.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestMain(m *testing.M) {
	frontiertest.Main(disk)
	goleak.VerifyTestMain(m)
}

func TestSQLite(t *testing.T) { frontiertest.Run(t, disk) }
func TestMemory(t *testing.T) { frontiertest.Run(t, memory) }

func FuzzModel(f *testing.F) { frontiertest.Fuzz(f, memory) }
