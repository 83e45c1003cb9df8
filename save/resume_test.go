package save_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

var resume = save.Options{Resume: true, Existing: save.Continue, URL: url}

// leave saves text as a part and fails.
func leave(t *testing.T, out, validator, text string) {
	t.Helper()
	f := create(t, out, resume)
	if err := f.Begin(save.State{Validator: validator, Size: int64(len(body))}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestResume(t *testing.T) {
	size := int64(len(body))
	for _, test := range []struct {
		name  string
		o     save.Options
		left  string // validator of a part of 8 bytes
		state save.State
		begin save.State
		text  string
		fault fetch.Fault // expected of Begin
		want  string
	}{
		{"goes on", resume, "v1", save.State{URL: url, Validator: "v1", Offset: 8, Size: size},
			save.State{Validator: "v1", Offset: 8, Size: size}, body[8:], 0, body},
		{"a server that repeats no validator", resume, "v1", save.State{URL: url, Validator: "v1", Offset: 8, Size: size},
			save.State{Offset: 8, Size: -1}, body[8:], 0, body},
		{"complete object again", resume, "v1", save.State{URL: url, Validator: "v1", Offset: 8, Size: size},
			save.State{Validator: "v2", Size: 5}, "other", 0, "other"},
		{"the end of another version", resume, "v1", save.State{URL: url, Validator: "v1", Offset: 8, Size: size},
			save.State{Validator: "v2", Offset: 8, Size: size}, "", fetch.Mismatch, ""},
		{"the end of an object of another size", resume, "v1", save.State{URL: url, Validator: "v1", Offset: 8, Size: size},
			save.State{Validator: "v1", Offset: 8, Size: size + 1}, "", fetch.Mismatch, ""},
		{"bytes from before the offset", resume, "v1", save.State{URL: url, Validator: "v1", Offset: 8, Size: size},
			save.State{Validator: "v1", Offset: 4, Size: size}, "", fetch.Protocol, ""},
		{"bytes from behind the offset", resume, "v1", save.State{URL: url, Validator: "v1", Offset: 8, Size: size},
			save.State{Validator: "v1", Offset: 9, Size: size}, "", fetch.Protocol, ""},
		{"strict", save.Options{Resume: true, Existing: save.Continue, URL: url, Strict: true}, "v1", save.State{URL: url, Validator: "v1", Offset: 8, Size: size},
			save.State{Validator: "v1", Offset: 8, Size: size}, body[8:], 0, body},
		{"another URL", save.Options{Resume: true, URL: url + "2"}, "v1",
			save.State{URL: url + "2", Size: -1}, save.State{Size: size}, body, 0, body},
		{"not asked to", save.Options{URL: url}, "v1", save.State{URL: url, Size: -1},
			save.State{Size: size}, body, 0, body},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, out := folder(t, "")
			leave(t, out, test.left, body[:8])
			wantNames(t, dir, ".out.part .out.part.state")
			f := create(t, out, test.o)
			if got := f.State(); got != test.state {
				t.Errorf("State() = %+v, want %+v", got, test.state)
			}
			err := f.Begin(test.begin)
			if test.fault != 0 {
				wantFault(t, err, test.fault)
				if err := f.Close(); err != nil {
					t.Error(err)
				}
				wantContent(t, out, "")
				// Only bytes of another version are removed.
				if gone := names(t, dir) == ""; gone != (test.fault == fetch.Mismatch) {
					t.Errorf("left %q", names(t, dir))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			finish(t, f, test.text)
			wantContent(t, out, test.want)
			wantNames(t, dir, "out")
		})
	}
}

// TestCheckpointTime checks that the bytes of a slow transfer are resumable
// after a crash.
func TestCheckpointTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, out := folder(t, "")
		f := create(t, out, resume)
		defer f.Abort()
		if err := f.Begin(save.State{Validator: "v1", Size: int64(len(body))}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{".out.part", ".out.part .out.part.state"} {
			if _, err := f.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			wantNames(t, dir, want)
			time.Sleep(time.Minute)
		}
	})
}

// TestBeginAfterMismatch checks that a File accepts the complete object after a
// Mismatch.
func TestBeginAfterMismatch(t *testing.T) {
	_, out := folder(t, "")
	leave(t, out, "v1", body[:8])
	f := create(t, out, resume)
	wantFault(t, f.Begin(save.State{Validator: "v2", Offset: 8, Size: 5}), fetch.Mismatch)
	if got, want := f.State(), (save.State{URL: url, Size: -1}); got != want {
		t.Errorf("State() = %+v, want %+v", got, want)
	}
	if err := f.Begin(save.State{Validator: "v2", Size: 5}); err != nil {
		t.Fatal(err)
	}
	finish(t, f, "other")
	wantContent(t, out, "other")
}

// TestBeginContinue checks that an interrupted body can be continued in the
// same File.
func TestBeginContinue(t *testing.T) {
	_, out := folder(t, "")
	f := create(t, out, save.Options{})
	if err := f.Begin(save.State{Validator: "v1", Size: int64(len(body))}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(body[:8])); err != nil {
		t.Fatal(err)
	}
	if err := f.Begin(save.State{Validator: f.State().Validator, Offset: f.State().Offset, Size: -1}); err != nil {
		t.Fatal(err)
	}
	finish(t, f, body[8:])
	wantContent(t, out, body)
}

// TestDamagedPart checks that only the bytes that the state file records are
// kept.
func TestDamagedPart(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(part string) error
		want  int64
	}{
		{"more than the state knows", func(part string) error {
			f, err := os.OpenFile(part, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("torn" + body)
			return err
		}, 8},
		{"fewer bytes", func(part string) error { return os.Truncate(part, 7) }, 0},
		{"other bytes", func(part string) error { return os.WriteFile(part, []byte("87654321"), 0o600) }, 0},
		{"no state", func(part string) error { return os.Remove(part + ".state") }, 0},
		{"empty state", func(part string) error { return os.Truncate(part+".state", 0) }, 0},
		{"half a state", func(part string) error { return os.Truncate(part+".state", 40) }, 0},
		{"no part", os.Remove, 0},
	} {
		dir, out := folder(t, "")
		leave(t, out, "v1", body[:8])
		if err := test.spoil(filepath.Join(dir, ".out.part")); err != nil {
			t.Fatal(err)
		}
		f := create(t, out, resume)
		if got := f.State().Offset; got != test.want {
			t.Errorf("%s: goes on at %d, want %d", test.name, got, test.want)
		}
		if err := f.Begin(save.State{Validator: "v1", Offset: test.want, Size: int64(len(body))}); err != nil {
			t.Fatal(err)
		}
		finish(t, f, body[test.want:])
		wantContent(t, out, body)
		wantNames(t, dir, "out")
	}
}

// TestNoValidator checks that no part is kept for an object without a
// validator.
func TestNoValidator(t *testing.T) {
	dir, out := folder(t, old)
	f := create(t, out, resume)
	if err := f.Begin(save.State{Size: -1}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, 9<<20)); err != nil {
		t.Fatal(err)
	}
	wantNames(t, dir, ".out.part out")
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	wantNames(t, dir, "out")
	wantContent(t, out, old)
}

// TestResumeUntouched checks that a failed request leaves the part unchanged.
func TestResumeUntouched(t *testing.T) {
	dir, out := folder(t, old)
	leave(t, out, "", "") // no part is kept
	wantNames(t, dir, "out")
	f := create(t, out, resume)
	if err := f.Begin(save.State{Validator: "v1", Size: -1}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(body[:8])); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for range 2 {
		f := create(t, out, resume)
		if got := f.State().Offset; got != 8 {
			t.Errorf("goes on at %d, want 8", got)
		}
		f.Close()
		wantNames(t, dir, ".out.part .out.part.state out")
	}
	f = create(t, out, resume)
	if err := f.Abort(); err != nil {
		t.Error(err)
	}
	wantNames(t, dir, "out")
	wantContent(t, out, old)
}

// TestResumeFile checks that a file without a state is continued as unverified.
func TestResumeFile(t *testing.T) {
	unverified := save.State{URL: url, Offset: 8, Size: -1, Unverified: true}
	for _, test := range []struct {
		name  string
		begin save.State
		text  string
		fault fetch.Fault
		want  string
	}{
		{"goes on", save.State{Validator: "v1", Offset: 8, Size: int64(len(body))}, body[8:], 0, body},
		{"complete object", save.State{Validator: "v1", Size: int64(len(body))}, body, 0, body},
		{"nothing more", save.State{Offset: 8, Size: 8}, "", 0, body[:8]},
		{"nothing more, of unknown size", save.State{Offset: 8, Size: -1}, "", 0, body[:8]},
		{"the object is shorter", save.State{Offset: 8, Size: 7}, "", fetch.Mismatch, body[:8]},
		{"elsewhere", save.State{Offset: 4, Size: -1}, "", fetch.Protocol, body[:8]},
	} {
		dir, out := folder(t, body[:8])
		f := create(t, out, resume)
		got := f.State()
		if got.Modified.IsZero() {
			t.Errorf("%s: the time of the file is unknown", test.name)
		}
		got.Modified = time.Time{}
		if got != unverified {
			t.Errorf("%s: State() = %+v, want %+v", test.name, got, unverified)
		}
		if err := f.Begin(test.begin); test.fault != 0 {
			wantFault(t, err, test.fault)
			f.Close()
		} else if err != nil {
			t.Fatal(err)
		} else {
			finish(t, f, test.text)
		}
		wantContent(t, out, test.want)
		wantNames(t, dir, "out")
	}
}

// TestResumeFileTwice checks that the part of such a file stays unverified, and
// that the file itself is unchanged.
func TestResumeFileTwice(t *testing.T) {
	dir, out := folder(t, body[:8])
	f := create(t, out, resume)
	if err := f.Begin(save.State{Validator: "v1", Offset: 8, Size: int64(len(body))}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(body[8:10])); err != nil {
		t.Fatal(err)
	}
	f.Close()
	wantContent(t, out, body[:8])
	wantNames(t, dir, ".out.part .out.part.state out")

	_, err := save.Create(out, save.Options{Resume: true, Existing: save.Continue, URL: url + "?2", Strict: true})
	wantFault(t, err, fetch.Exists) // there is no part for this URL, and the version of the file is unknown

	f = create(t, out, resume)
	if got, want := f.State(), (save.State{URL: url, Validator: "v1", Offset: 10, Size: int64(len(body)), Unverified: true}); got != want {
		t.Errorf("State() = %+v, want %+v", got, want)
	}
	if err := f.Begin(save.State{Validator: "v1", Offset: 10, Size: -1}); err != nil {
		t.Fatal(err)
	}
	if !f.State().Unverified {
		t.Error("the state is verified now")
	}
	finish(t, f, body[10:])
	wantContent(t, out, body)
	wantNames(t, dir, "out")
}

// TestResumeFileChanged changes the existing file while it is continued.
func TestResumeFileChanged(t *testing.T) {
	_, out := folder(t, body[:8])
	f := create(t, out, resume)
	if err := f.Begin(save.State{Validator: "v1", Offset: 8, Size: -1}); err != nil {
		t.Fatal(err)
	}
	write(t, out, body[:9], 0o644)
	_, err := f.Write([]byte(body[8:]))
	wantFault(t, err, fetch.Local)
	wantFault(t, f.Commit(), fetch.Local)
	wantContent(t, out, body[:9])
}

// TestOffset checks Options.Offset with and without an existing file.
func TestOffset(t *testing.T) {
	for _, test := range []struct {
		name, before string
		begin        save.State
		text         string
		fault        fetch.Fault
		want         string
	}{
		{"as long as said", body[:8], save.State{Offset: 8, Size: -1}, "rest", 0, body[:8] + "rest"},
		{"longer: cut", body[:12], save.State{Offset: 8, Size: -1}, "rest", 0, body[:8] + "rest"},
		{"longer, nothing more: cut", body[:12], save.State{Offset: 8, Size: 8}, "", 0, body[:8]},
		{"shorter", body[:5], save.State{Offset: 8, Size: -1}, "", fetch.Local, body[:5]},
		{"no file: the rest alone", "", save.State{Offset: 8, Size: -1}, "rest", 0, "rest"},
		{"complete object", body[:5], save.State{Size: -1}, "whole", 0, "whole"},
		{"another offset", body[:8], save.State{Offset: 7, Size: -1}, "", fetch.Protocol, body[:8]},
	} {
		dir, out := folder(t, test.before)
		f := create(t, out, save.Options{Offset: 8})
		if err := f.Begin(test.begin); test.fault != 0 {
			wantFault(t, err, test.fault)
			f.Close()
		} else if err != nil {
			t.Fatal(err)
		} else {
			finish(t, f, test.text)
		}
		wantContent(t, out, test.want)
		wantNames(t, dir, "out")
	}
}

// TestCheckpoint checks that the state file is at most 8 MiB late, and that it
// does not contain the password.
func TestCheckpoint(t *testing.T) {
	dir, out := folder(t, "")
	o := save.Options{Resume: true, URL: "ftp://user:s3cret@example.com/out"}
	f := create(t, out, o)
	if err := f.Begin(save.State{Validator: "v1", Size: -1}); err != nil {
		t.Fatal(err)
	}
	piece := bytes.Repeat([]byte("x"), 3<<20)
	for range 3 {
		if _, err := f.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	text := content(t, filepath.Join(dir, ".out.part.state"))
	if !strings.Contains(text, `"offset":9437184`) || !strings.Contains(text, "ftp://***@example.com/out") || strings.Contains(text, "s3cret") {
		t.Errorf("state: %s", text)
	}
	for _, name := range []string{".out.part", ".out.part.state"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v, want 0600", name, info.Mode(), err)
		}
	}
}
