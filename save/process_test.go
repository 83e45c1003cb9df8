//go:build linux

package save_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/testdir"
	"github.com/anyurl/fetch/save"
)

// Some tests need another process. They run this test binary again as a child.
// The child calls one of these functions with a path.
var children = map[string]func(path string) error{
	"save":  func(path string) error { return savePath(path, save.Options{}) },
	"hold":  holdPart,
	"loop":  loop,
	"umask": underUmask,
	"guest": asGuest,
	"full":  onFullDisk,
}

func TestMain(m *testing.M) {
	if child := children[os.Getenv("SAVE_TEST_CHILD")]; child != nil {
		if err := child(os.Getenv("SAVE_TEST_PATH")); err != nil {
			fmt.Println(fetch.FaultOf(err), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testdir.Main(m))
}

func command(t *testing.T, child, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "SAVE_TEST_CHILD="+child, "SAVE_TEST_PATH="+path)
	return cmd
}

func savePath(path string, o save.Options) error {
	f, err := save.Create(path, o)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write([]byte(body)); err != nil {
		return err
	}
	return f.Commit()
}

// writerBody returns the body of one of several writers. A mixture of two
// bodies is detectable.
func writerBody(id int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%08d", id), 1000) }

// isOneBody reports whether text is the body of one writer.
func isOneBody(text []byte) bool {
	return len(text) == 8000 && bytes.Equal(text, bytes.Repeat(text[:8], 1000))
}

// holdPart creates a part, reports that, and commits it when standard input
// ends.
func holdPart(path string) error {
	f, err := save.Create(path, save.Options{})
	fmt.Println(fetch.FaultOf(err))
	io.Copy(io.Discard, os.Stdin)
	if err != nil {
		return nil
	}
	defer f.Close()
	if _, err := f.Write(writerBody(os.Getpid())); err != nil {
		return err
	}
	return f.Commit()
}

func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const n = 50
	dir, out := folder(t, old)
	gate, gateIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var all []*exec.Cmd
	var answers []*bufio.Reader
	for range n {
		cmd := command(t, "hold", out)
		cmd.Stdin = gate
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all, answers = append(all, cmd), append(answers, bufio.NewReader(stdout))
	}
	gate.Close()
	won := 0
	for i, r := range answers {
		switch line, err := r.ReadString('\n'); line {
		case "unknown\n": // no fault
			won = all[i].Process.Pid
			answers[i] = nil
		case "busy\n":
			answers[i] = nil
		default:
			t.Errorf("process %d says %q, %v", i, line, err)
		}
	}
	wantContent(t, out, old)
	gateIn.Close()
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got := content(t, out); got != string(writerBody(won)) {
		t.Errorf("process %d won, the file holds %.16q (%d bytes)", won, got, len(got))
	}
	wantNames(t, dir, "out")
}

func TestGoroutines(t *testing.T) {
	const n = 50
	dir, out := folder(t, old)
	var tried, done sync.WaitGroup
	tried.Add(n)
	won := make(chan int, n)
	for id := range n {
		done.Go(func() {
			f, err := save.Create(out, save.Options{})
			tried.Done()
			if err != nil {
				wantFault(t, err, fetch.InUse)
				return
			}
			tried.Wait()
			defer f.Close()
			if _, err := f.Write(writerBody(id)); err != nil {
				t.Error(err)
			}
			if err := f.Commit(); err != nil {
				t.Error(err)
			}
			won <- id
		})
	}
	done.Wait()
	close(won)
	if len(won) != 1 {
		t.Fatalf("%d have won", len(won))
	}
	wantContent(t, out, string(writerBody(<-won)))
	wantNames(t, dir, "out")
}

// TestConcurrentWriters runs several writers, of which some fail. They must not
// share a part, and the file must always contain the body of one writer.
func TestConcurrentWriters(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	dir, out := folder(t, string(writerBody(0)))
	var writers sync.WaitGroup
	for id := range 8 {
		writers.Go(func() {
			for round := 0; round < rounds; {
				f, err := save.Create(out, save.Options{})
				if err != nil {
					wantFault(t, err, fetch.InUse)
					runtime.Gosched()
					continue
				}
				text := writerBody(id*1000 + round)
				f.Write(text[:4000])
				runtime.Gosched()
				f.Write(text[4000:])
				if round%3 == 0 {
					err = f.Close()
				} else {
					err = f.Commit()
				}
				if err != nil {
					t.Error(err)
				}
				round++
			}
		})
	}
	stop := make(chan struct{})
	reader := make(chan struct{})
	go func() {
		defer close(reader)
		for {
			if text, err := os.ReadFile(out); err != nil || !isOneBody(text) {
				t.Errorf("read %.16q (%d bytes), %v", text, len(text), err)
				return
			}
			select {
			case <-stop:
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	writers.Wait()
	close(stop)
	<-reader
	wantNames(t, dir, "out")
}

// loop saves long repeatedly and resumes existing parts. It reports every step.
func loop(path string) error {
	for {
		err := func() error {
			f, err := save.Create(path, save.Options{Resume: true, URL: url})
			if err != nil {
				return err
			}
			defer f.Close()
			at := f.State().Offset
			if at == int64(len(long)) || f.State().Validator == "" {
				at = 0 // the complete object is requested again
			}
			if err := f.Begin(save.State{Validator: "v1", Offset: at, Size: int64(len(long))}); err != nil {
				return err
			}
			for rest := []byte(long[at:]); len(rest) > 0; {
				n := min(len(rest), 100_000)
				if _, err := f.Write(rest[:n]); err != nil {
					return err
				}
				rest = rest[n:]
				os.Stdout.WriteString(".")
			}
			return f.Commit()
		}()
		if err != nil {
			return err
		}
	}
}

// TestKill kills a process at a random time. The file must be unchanged or
// complete, and the part must not be locked and must be resumable.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const rounds = 20
	dir, out := folder(t, old)
	resumed := 0
	for range rounds {
		cmd := command(t, "loop", out)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, stdout, rand.Int64N(200)); err != nil {
			t.Fatal(err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if got := content(t, out); got != old && got != long {
			t.Fatalf("the file holds %d bytes", len(got))
		}
		f, err := save.Create(out, save.Options{Resume: true, URL: url})
		if err != nil {
			t.Fatalf("after a kill: %v", err)
		}
		if s := f.State(); s.Validator == "v1" {
			resumed++
			if err := f.Begin(s); err != nil {
				t.Fatal(err)
			}
			finish(t, f, long[s.Offset:])
			wantContent(t, out, long)
		}
		f.Close()
	}
	t.Logf("%d of %d were resumed", resumed, rounds)
	if err := savePath(out, save.Options{}); err != nil {
		t.Error(err)
	}
	wantContent(t, out, body)
	wantNames(t, dir, "out")
}
