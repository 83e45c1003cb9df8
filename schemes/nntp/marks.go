package nntp

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A Mark identifies the last article that an earlier run retrieved from a
// newsgroup. The message-id shows whether the server still uses the same
// article numbers.
type Mark struct {
	Number uint64 `json:"number"`
	ID     string `json:"id,omitempty"`
}

// Marks records the last retrieved article of each newsgroup, so that the next
// run retrieves only newer articles. The zero value is empty and ready to use.
// Marks is safe for concurrent use.
//
// A request for a range, a listing or a batch updates the mark of its group
// when its Body returns [io.EOF]. Call Write after the articles are stored
// safely.
type Marks struct {
	mu sync.Mutex
	m  map[string]Mark
}

// ReadMarks reads marks in the format of [Marks.Write]. Empty input means no
// marks.
func ReadMarks(r io.Reader) (*Marks, error) {
	m := new(Marks)
	err := json.NewDecoder(io.LimitReader(r, maxMarks)).Decode(&m.m)
	if err != nil && err != io.EOF {
		return nil, fetch.Local.Errorf("marks of newsgroups: %w", err)
	}
	return m, nil
}

// maxMarks is the maximum size of the input of ReadMarks, in bytes.
const maxMarks = 64 << 20

// Write writes m as a JSON object that maps "HOST:PORT/GROUP" to a [Mark].
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

// Get returns the last retrieved article of a newsgroup, or the zero Mark if m
// has no entry for the group. The server has the form "host:port".
func (m *Marks) Get(server, group string) Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[server+"/"+group]
}

// Set records the last retrieved article of a newsgroup. The server has the
// form "host:port".
func (m *Marks) Set(server, group string, mark Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[string]Mark{}
	}
	m.m[server+"/"+group] = mark
}

// skippedUpTo returns the highest article number to skip, according to
// Options.After and the mark of the group, or 0. It ignores the mark of the
// group if the server has renumbered the articles.
func (d *driver) skippedUpTo(q *task, s *session, g group) (uint64, error) {
	if d.Marks == nil || q.kind == kindNumber {
		return d.After, nil
	}
	mark := d.Marks.Get(q.endpoint.Address(), g.name)
	if mark.Number == 0 {
		return d.After, nil
	}
	valid, err := s.isMarkValid(g, mark)
	if err != nil {
		return 0, err
	}
	if !valid {
		q.req.Trace.Notef("server has renumbered the articles of %s: fetching all articles", g.name)
		return d.After, nil
	}
	return max(d.After, mark.Number), nil
}

// isMarkValid reports whether the articles of a group still have the same
// numbers as when the mark was set. If the article of the mark has expired, the
// mark remains valid. If the article now has another number, the mark is
// invalid.
func (s *session) isMarkValid(g group, mark Mark) (bool, error) {
	if mark.Number > g.high {
		// In an empty group, the high number may be one less than the low
		// number.
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
	if err != nil || mark.Number < g.low { // all remaining articles follow the mark
		return true, nil
	}
	r, err = s.command("STAT", id)
	return r.Code != 223, err
}

// recordMark returns a reader that reads from r. At the end of r, the reader
// stores the result of last as the mark of the group. It does not set a mark
// for a placeholder article.
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
