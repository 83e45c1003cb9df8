package save_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/savetest"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/save"
)

const object = "the object that the server has as its version v1"

// long is long enough for a checkpoint.
var long = strings.Repeat("0123456789abcde\n", 9<<20/16)

// get saves an object like a client whose server supports all ranges.
func get(path, object string, o save.Options) (err error) {
	o.URL = url
	f, err := save.Create(path, o)
	if err != nil {
		return err
	}
	defer f.Close()
	at := f.State().Offset
	err = f.Begin(save.State{Validator: "v1", Offset: at, Size: int64(len(object))})
	if errors.Is(err, fetch.Mismatch) {
		at = 0
		err = f.Begin(save.State{Validator: "v1", Size: int64(len(object))})
	}
	if err != nil {
		return err
	}
	for piece := range slices.Chunk([]byte(object[at:]), len(object)/3+1) {
		if _, err := f.Write(piece); err != nil {
			return err
		}
	}
	return f.Commit()
}

// TestSweep makes each operation of the file system fail in turn. The file must
// be unchanged or complete, the error must be the injected one, no unexpected
// file may be left, and the next attempt must succeed.
func TestSweep(t *testing.T) {
	for _, test := range []struct {
		name, before, object string
		o                    save.Options
		prepare              func(t *testing.T, out string)
	}{
		{name: "new", object: object},
		{name: "replaced", object: object, before: old},
		{name: "not replaced", object: object, o: save.Options{Existing: save.Refuse}},
		{name: "resumable", object: long, o: save.Options{Resume: true}},
		{name: "part resumed", object: object, before: old, o: save.Options{Resume: true}, prepare: leavePart},
		{name: "file resumed", object: object, before: object[:20], o: save.Options{Resume: true, Existing: save.Continue}},
	} {
		t.Run(test.name, func(t *testing.T) {
			short.Sample(t, 2)
			savetest.Sweep(t, func(t *testing.T, fsys *savetest.FS) {
				dir, out := folder(t, test.before)
				if test.prepare != nil {
					test.prepare(t, out)
				}
				o := test.o
				o.FS = fsys
				err := get(out, test.object, o)
				got := content(t, out)
				switch {
				case got != test.before && got != test.object:
					t.Errorf("the file holds %d bytes: neither what it held nor the object", len(got))
				case err == nil && got != test.object:
					t.Error("success without the object")
				case err != nil && got == test.object && !published(fsys.Ops()):
					t.Errorf("%v though the file was not renamed", err)
				}
				if err != nil {
					wantFault(t, err, class(fsys))
				}
				if at := fsys.At; at > 0 && !fsys.Killed() && fsys.Ops()[at-1].Verb != "remove" {
					left := names(t, dir)
					kept := strings.TrimPrefix(left, ".out.part .out.part.state")
					if kept != left && !o.Resume || strings.TrimSpace(kept) != "" && strings.TrimSpace(kept) != "out" {
						t.Errorf("left %q", left)
					}
				}
				o.FS = &savetest.FS{}
				if o.Existing == save.Refuse && got == test.object {
					return
				}
				if err := get(out, test.object, o); err != nil {
					t.Errorf("the next attempt: %v", err)
				}
				if content(t, out) != test.object {
					t.Error("the next attempt saved something else")
				}
				wantNames(t, dir, "out")
			})
		})
	}
}

func leavePart(t *testing.T, out string) {
	t.Helper()
	f := create(t, out, resume)
	if err := f.Begin(save.State{Validator: "v1", Size: int64(len(object))}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(object[:10])); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func class(fsys *savetest.FS) fetch.Fault {
	if fsys.Fault.Err == syscall.ENOSPC {
		return fetch.DiskFull
	}
	return fetch.Local
}

func published(ops []savetest.Op) bool {
	return slices.ContainsFunc(ops, func(op savetest.Op) bool {
		return strings.HasPrefix(op.Verb, "rename") && filepath.Base(op.Name) == ".out.part"
	})
}

// TestSyncOrder checks the order of syncs and renames. The bytes must be
// durable before the name, and before the state that records them.
func TestSyncOrder(t *testing.T) {
	for _, test := range []struct {
		name string
		o    save.Options
		want string
	}{
		{"replace", save.Options{}, "write write write chmod sync .out.part renamenew .out.part syncdir"},
		{"refuse", save.Options{Existing: save.Refuse}, "write write write chmod sync .out.part renamenew .out.part syncdir"},
		{"resume", save.Options{Resume: true}, "write write write sync .out.part write rename .out.part.new " +
			"chmod sync .out.part renamenew .out.part syncdir"},
	} {
		dir, out := folder(t, "")
		fsys := &savetest.FS{}
		test.o.FS = fsys
		if err := get(out, long, test.o); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, op := range fsys.Ops() {
			switch op.Verb {
			case "write", "chmod", "syncdir":
				got = append(got, op.Verb)
			case "sync", "rename", "renamenew":
				got = append(got, op.Verb, filepath.Base(op.Name))
			}
			if op.Verb == "syncdir" && filepath.Clean(op.Name) != dir {
				t.Errorf("%s: synced %s", test.name, op.Name)
			}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestSyncTime checks that a file with a modification time is synced too.
func TestSyncTime(t *testing.T) {
	_, out := folder(t, "")
	fsys := &savetest.FS{}
	f := create(t, out, save.Options{FS: fsys})
	f.SetTime(time.Unix(1e9, 0))
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, op := range fsys.Ops() {
		if op.Verb == "chtimes" || op.Verb == "sync" || strings.HasPrefix(op.Verb, "rename") {
			verbs = append(verbs, op.Verb)
		}
	}
	if got, want := strings.Join(verbs, " "), "chtimes sync renamenew"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSyncFails checks that no second sync follows a failed one. The kernel may
// have dropped the bytes and report success for the second sync.
func TestSyncFails(t *testing.T) {
	for at := 1; ; at++ {
		_, out := folder(t, old)
		fsys := &savetest.FS{At: at, Fault: savetest.Fault{Err: syscall.EIO}}
		err := get(out, long, save.Options{Resume: true, FS: fsys})
		ops := fsys.Ops()
		if len(ops) < at {
			break
		}
		if failed := ops[at-1]; failed.Verb == "sync" {
			wantFault(t, err, fetch.Local)
			wantContent(t, out, old)
			if slices.Contains(ops[at:], failed) {
				t.Errorf("synced again: %v", ops[at:])
			}
		}
	}
}

// TestDiskFullResume checks that Close keeps the part after a full disk, with
// Resume. The digest of the part excludes the bytes that were not written.
func TestDiskFullResume(t *testing.T) {
	for _, size := range []int{10, 1 << 20} { // many bytes are hashed while they are written
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			dir, out := folder(t, "")
			fsys := &savetest.FS{}
			f := create(t, out, save.Options{Resume: true, URL: url, FS: fsys})
			if err := f.Begin(save.State{Validator: "v1", Size: -1}); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte(body)); err != nil {
				t.Fatal(err)
			}
			fsys.At, fsys.Fault = len(fsys.Ops())+1, savetest.Fault{Err: syscall.ENOSPC, Half: true}
			n, err := f.Write(bytes.Repeat([]byte("x"), size))
			if n != size/2 {
				t.Errorf("wrote %d bytes", n)
			}
			wantFault(t, err, fetch.DiskFull)
			if f.Sum() != nil {
				t.Error("the digest includes bytes that were not written")
			}
			_, err = f.Write([]byte("more"))
			wantFault(t, err, fetch.DiskFull)
			wantFault(t, f.Commit(), fetch.DiskFull)
			wantNames(t, dir, ".out.part .out.part.state")
			if got, want := create(t, out, resume).State().Offset, int64(len(body)+size/2); got != want {
				t.Errorf("goes on at %d, want %d", got, want)
			}
		})
	}
}
