package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A job is one URL of a batch on its way.
type job struct {
	*app
	client *fetch.Client
	text   string
	index  int // from 0, over all URLs
	line   int // in the input file; 0: an argument
	stdout io.Writer

	attempt int // of the request under way
	measure *measure
	out     sink            // nil: none yet
	resp    *fetch.Response // the last one; its body is closed
	heads   bytes.Buffer    // of every answer on the way to it
}

// batch does something with each URL of the arguments and the input file: one
// after the other, or with -Z side by side. A failure does not stop the rest.
func (a *app) batch(args []string, do func(*job) error) error {
	if len(args) == 0 && a.flags.inputFile == "" {
		return fetch.Usage.Errorf("no URL; fetch --help tells more")
	}
	client, err := a.client()
	if err != nil {
		return err
	}
	defer client.Close()
	if a.archive != nil {
		defer a.archive.Close()
	}
	if a.meta, err = openMeta(a.flags.meta); err != nil {
		return err
	}
	b := &batch{app: a, do: do, client: client}
	if err := errors.Join(b.run(args), a.meta.Close(), a.writeCookies(), b.remember()); err != nil {
		return err
	}
	return b.codes.err()
}

// remember writes what the next run may leave out, unless something failed.
func (b *batch) remember() error {
	if b.codes.code != 0 {
		return nil
	}
	return b.writeMarks()
}

// A job has a connection, or two that race, a part and its state or folder
// open. Where the system allows few files, fewer jobs go on at a time: to run
// out of them in the midst would be an error of ours.
const (
	jobFiles   = 5
	spareFiles = 16
)

type batch struct {
	*app
	do     func(*job) error
	client *fetch.Client

	// turns bounds the jobs that write to standard output. Who waits there
	// for his turn keeps his place at a host; if all places were taken so, he
	// whose turn it is would never get one.
	turns chan struct{}

	mu    sync.Mutex
	codes tally
}

func (b *batch) run(args []string) error {
	workers := 1
	if b.flags.parallel {
		workers = max(min(b.flags.parallelMax, (openFiles()-spareFiles)/jobFiles), 1)
	}
	if workers > 1 {
		// Of many small bodies little lives for long: to look for it so often
		// costs more than 16 MiB.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	b.turns = make(chan struct{}, max(b.flags.perHost/max(b.flags.segments, 1), 1))
	jobs := make(chan *job)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for j := range jobs {
				b.one(j)
			}
		})
	}
	err := b.feed(args, jobs, workers > 1)
	close(jobs)
	all.Wait()
	return err
}

func (b *batch) one(j *job) {
	err := b.do(j)
	if s, ok := j.stdout.(*slot); ok {
		err = errors.Join(err, local(s.end()))
		<-b.turns
	}
	code := 0
	if err != nil {
		code = j.report(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.codes.add(code)
}

// feed makes a job of every URL, in order. It holds no more of them than are
// under way, however long the list.
func (b *batch) feed(args []string, jobs chan<- *job, parallel bool) error {
	queue := newOrdered(b.ctx, b.app.stdout)
	index := 0
	send := func(text string, line int) bool {
		j := &job{app: b.app, client: b.client, text: text, index: index, line: line, stdout: b.app.stdout}
		if parallel && b.flags.toStdout(index) {
			select {
			case b.turns <- struct{}{}:
			case <-b.ctx.Done():
				return false
			}
			j.stdout = queue.slot()
		}
		index++
		select {
		case jobs <- j:
			return true
		case <-b.ctx.Done():
			return false
		}
	}
	for _, text := range args {
		if !send(text, 0) {
			return context.Cause(b.ctx)
		}
	}
	if b.flags.inputFile == "" {
		return nil
	}
	return b.feedFile(send)
}

// maxLine is longer than any URL that the Client takes.
const maxLine = 128 << 10

// feedFile sends the lines of the input file that are neither empty nor a
// comment.
func (b *batch) feedFile(send func(string, int) bool) error {
	r := b.stdin
	if b.flags.inputFile != "-" {
		f, err := os.Open(b.flags.inputFile)
		if err != nil {
			return fetch.Local.With(err)
		}
		defer f.Close()
		r = f
	}
	lines := bufio.NewReaderSize(r, maxLine)
	for n := 1; ; n++ {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = lines.ReadSlice('\n')
			}
			text = []byte("line-too-long")
		}
		if s := strings.TrimSpace(string(text)); s != "" && s[0] != '#' && !send(s, n) {
			return context.Cause(b.ctx)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fetch.Local.With(err)
		}
	}
}
