package mirror

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
)

// Event is one visit, as it stands in crawl.jsonl.
type Event struct {
	Time      time.Time `json:"time"`
	Run       int64     `json:"run"`
	URL       string    `json:"url,omitempty"`
	Via       string    `json:"via,omitempty"`
	Seed      bool      `json:"seed,omitempty"`      // it is a seed of this run
	State     string    `json:"state"`               // done, kept, gone, dead, excluded; pending: to be tried again; cut: of WARC, behind Offset
	Same      bool      `json:"same,omitempty"`      // unchanged
	Repaired  bool      `json:"repaired,omitempty"`  // unchanged, and its file was missing or damaged
	Unreached bool      `json:"unreached,omitempty"` // pending for the next run: the server could not be reached
	Code      int       `json:"code,omitempty"`
	Media     string    `json:"media,omitempty"`
	Size      int64     `json:"size,omitempty"` // bytes of the payload that was brought
	Millis    int64     `json:"ms"`
	Path      string    `json:"path,omitempty"` // below tree/
	WARC      string    `json:"warc,omitempty"`
	Offset    int64     `json:"offset,omitempty"`
	Attempts  int       `json:"attempts,omitempty"` // that failed before
	Note      string    `json:"note,omitempty"`
	Override  string    `json:"override,omitempty"` // the flag of the command that allows what the Policy refused
}

// totals count what a run does.
type totals struct {
	Summary
	messages int64 // Kept, new in this run
}

// Progress is where a run is.
type Progress struct {
	Summary
	Hosts int64 // with something pending
}

// stats takes what the frontier counts.
func (t *totals) stats(s frontier.Stats) {
	t.Left, t.OverQueue = s.States[frontier.Pending]-s.Parked, s.Dropped
}

// look tells how far the run is, but not at each occasion.
func (m *mirror) look(ctx context.Context) {
	if now := m.Now(); now.Sub(m.looked) < lookEvery {
		return
	} else {
		m.looked = now
	}
	if s, err := m.front.Stats(ctx); err == nil { // else the next call of the frontier tells
		m.total.stats(s)
		m.Progress(Progress{m.total.Summary, s.Hosts})
	}
}

const lookEvery = time.Second

// journal is crawl.jsonl: what was done, for people. Nothing is read from it.
type journal struct {
	file *os.File
	w    *bufio.Writer
	json *json.Encoder // into w
	tell func(Event)
}

func openJournal(root *os.Root, tell func(Event)) (*journal, error) {
	f, err := root.OpenFile(logFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	if err := cutLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w := bufio.NewWriterSize(f, 64<<10)
	return &journal{file: f, w: w, json: json.NewEncoder(w), tell: tell}, nil
}

// cutLine takes a last line off f that has no end: a kill or a full disk came
// between, and what is added would make it worse.
func cutLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	var block [4 << 10]byte
	for ends := size; ends > 0; {
		part := block[:min(ends, int64(len(block)))]
		begins := ends - int64(len(part))
		if _, err := f.ReadAt(part, begins); err != nil {
			return err
		}
		if ends = begins + int64(bytes.LastIndexByte(part, '\n')) + 1; ends == size {
			return nil
		} else if ends > begins {
			return f.Truncate(ends)
		}
	}
	return f.Truncate(0)
}

func (j *journal) add(e Event) {
	j.tell(e)
	j.json.Encode(&e) // of plain fields, which cannot fail; flush tells of w
}

func (j *journal) flush() error { return j.w.Flush() }

func (j *journal) close() error {
	err := j.w.Flush()
	if e := j.file.Close(); err == nil {
		err = e
	}
	return err
}

// count adds a committed visit to the totals and tells of it.
func (m *mirror) count(v *visit, r *frontier.Result) {
	t := &m.total
	if v.cutList {
		t.OverEntries += v.cut
	} else {
		t.OverLinks += v.cut
	}
	e := Event{
		Time: v.at, Run: t.Run, URL: v.item.URL, Via: v.meta.From, Seed: m.isSeed(v), State: v.state.String(),
		Repaired: v.repaired, Unreached: v.parked, Millis: m.Now().Sub(v.at).Milliseconds(), Attempts: v.item.Attempts, Note: v.note,
	}
	if v.resp != nil {
		e.Code, e.Media = v.resp.Code, v.resp.Media
	}
	if refusal, ok := errors.AsType[*fetch.Refusal](v.err); ok {
		e.Override = refusal.Override
	}
	if k := r.Capture; k != nil {
		e.Path, e.WARC, e.Offset = k.Path, k.File, k.At
	}
	if v.body != nil {
		e.Size = v.size
	}
	if v.state == frontier.Kept {
		t.messages++
	}
	switch v.state {
	case frontier.Done, frontier.Kept:
		switch e.Same = v.same || v.repeated; {
		case !e.Same:
			t.New++
			t.Bytes += e.Size
		case v.repaired:
			t.Repaired++
		case v.listed:
			t.Listed++
		case v.asked:
			t.Same++
		}
	case frontier.Pending:
		if v.parked {
			t.Unreached++
		}
	case frontier.Gone:
		t.Gone++
	case frontier.Dead:
		t.Failed++
	case frontier.Excluded:
		t.Excluded++
	}
	m.log.add(e)
}
