package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A job is one URL of a batch on its way.
type job struct {
	*app
	ctx    context.Context // of this job
	client *fetch.Client
	text   string
	index  int // from 0, over all URLs
	line   int // in the input file; 0: an argument
	stdout io.Writer

	begun   int // how often the transfer was begun, from the beginning or the middle
	tries   attempts
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
	if err := errors.Join(b.run(args), a.meta.Close(), a.folder.Close(), a.writeCookies(), b.remember()); err != nil {
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

	mu    sync.Mutex
	codes tally
}

// workers is how many jobs go on at a time. Who waits for his turn at standard
// output keeps his place at a host; if all places were taken so, he whose turn
// it is would never get one.
func (b *batch) workers() int {
	f := &b.flags
	if !f.parallel {
		return 1
	}
	n := min(f.parallelMax, (openFiles()-spareFiles)/jobFiles)
	if f.anyToStdout() {
		n = min(n, f.perHost/max(f.segments, 1))
	}
	return max(n, 1)
}

func (b *batch) run(args []string) error {
	workers := b.workers()
	if workers > 1 {
		// Of many small bodies little lives for long: to look for it so often
		// costs more than 16 MiB.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	src := &source{batch: b, urls: b.typedURLs(args)}
	if workers > 1 {
		src.queue = newOrdered(b.ctx, b.app.stdout)
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for j := src.next(); j != nil; j = src.next() {
				b.one(j)
			}
		})
	}
	all.Wait()
	return src.close()
}

func (b *batch) one(j *job) {
	err := b.do(j)
	if s, ok := j.stdout.(*slot); ok {
		err = errors.Join(err, local(s.end()))
	}
	code := 0
	if err != nil {
		code = j.report(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.codes.add(code)
}
