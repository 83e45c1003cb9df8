package nntp

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A Mark is the last article of a group that was brought: the high-water mark.
// The message-id proves that the server still counts as it did.
type Mark struct {
	Number uint64 `json:"number"`
	ID     string `json:"id,omitempty"`
}

// Marks remember between runs how far each group of each server was read. The
// zero value is ready; it is safe for concurrent use.
//
// A mark moves when the Body of a range, a listing or a batch was read to its
// proven end. Write them when what was read is safe.
type Marks struct {
	mu sync.Mutex
	m  map[string]Mark
}

// ReadMarks reads what Write wrote. Nothing at all is no marks.
func ReadMarks(r io.Reader) (*Marks, error) {
	m := new(Marks)
	err := json.NewDecoder(io.LimitReader(r, maxMarks)).Decode(&m.m)
	if err != nil && err != io.EOF {
		return nil, fetch.Local.Errorf("marks of news groups: %w", err)
	}
	return m, nil
}

const maxMarks = 64 << 20

// Write writes m as one JSON object: "HOST:PORT/GROUP" to number and
// message-id.
func (m *Marks) Write(w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[string]Mark{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	e.SetEscapeHTML(false)
	return e.Encode(m.m)
}

// Get returns the mark of a group at server, host:port; zero is none.
func (m *Marks) Get(server, group string) Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[server+"/"+group]
}

// Set moves the mark of a group.
func (m *Marks) Set(server, group string, to Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[string]Mark{}
	}
	m.m[server+"/"+group] = to
}

// after is the number up to which the articles of g are left out. Where the
// server has begun to count anew, all are wanted again.
func (d *driver) skippedUpTo(q *task, s *session, g group) (uint64, error) {
	if d.Marks == nil || q.kind == kindNumber {
		return d.After, nil
	}
	mark := d.Marks.Get(q.endpoint.Address(), g.name)
	if mark.Number == 0 {
		return d.After, nil
	}
	valid, err := s.isValid(g, mark)
	if err != nil {
		return 0, err
	}
	if !valid {
		q.req.Trace.Notef("%s has begun to count anew: every article is new", g.name)
		return d.After, nil
	}
	return max(d.After, mark.Number), nil
}

// counts reports whether mark still is what it was. An article that has
// expired proves nothing, and is believed; one that is there, but no more under
// its number, has another.
func (s *session) isValid(g group, mark Mark) (bool, error) {
	if mark.Number > g.high {
		// An empty group tells its high as one less than its low.
		return g.count == 0 && g.low > mark.Number, nil
	}
	r, err := s.command("STAT", formatNumber(mark.Number))
	if err != nil {
		return false, err
	}
	_, id := numberAndID(r)
	switch {
	case r.Code == 223:
		return mark.ID == "" || id == mark.ID, nil
	case faultOf(r.Code) != fetch.NotFound:
		return false, statusError("STAT", r)
	}
	id, err = parseID(mark.ID)
	if err != nil || mark.Number < g.low { // what comes behind the mark is all there is
		return true, nil
	}
	r, err = s.command("STAT", id)
	return r.Code != 223, err
}

// marking moves the mark of a group after r returns io.EOF. A placeholder does
// not move the mark.
func (d *driver) recordMark(q *task, p articleRange, r io.Reader, last func() Mark) io.ReadCloser {
	if d.Marks == nil || q.kind == kindNumber || p.placeholder {
		return io.NopCloser(r)
	}
	return io.NopCloser(&markingReader{r, func() {
		if m := last(); m.Number > 0 {
			d.Marks.Set(q.endpoint.Address(), q.group, m)
		}
	}})
}

type markingReader struct {
	r     io.Reader
	onEOF func()
}

func (m *markingReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err == io.EOF {
		m.onEOF()
	}
	return n, err
}
