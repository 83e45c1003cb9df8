package mirror

import (
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/uri"
)

// visit is what one item turned out to be.
type visit struct {
	item frontier.Item
	meta meta
	url  uri.URI
	at   time.Time

	scheme fetch.Scheme // of url
	origin fetch.Origin // of url
	sited  bool         // which has one

	resp   *fetch.Response // nil: there was no answer
	body   *spool          // the payload; nil: none, or not to be kept
	digest [sha256.Size]byte
	size   int64
	heard  *recorder

	state    frontier.State
	retry    time.Time
	parked   bool // pending until the next run: the server could not be reached
	note     string
	err      error
	asked    bool   // there was a request
	listed   bool   // a listing proves that it is unchanged; there was no request
	repaired bool   // repeated, and its file was missing or damaged
	refused  bool   // err is the server's, and its page is whole
	same     bool   // as it was, and not brought again
	repeated bool   // brought again, and it is as it was
	mark     string // how far a newsgroup was read
	local    bool   // the error is ours: the run ends

	cut      int64 // URLs that are left out, by Limits.Links or Limits.Entries
	cutList  bool  // by the latter
	partial  bool  // articles of this newsgroup are left out, by these or Limits.Queue
	children []frontier.Item
	held     int64 // of the budget, for children
	m        *mirror
}

// new reports whether v brought what the archive does not have.
func (v *visit) new() bool {
	return (v.state == frontier.Done || v.state == frontier.Kept) && !v.same && !v.repeated
}

// redirects reports whether the answer was a redirect, which is recorded even
// if it leads out of scope.
func (v *visit) redirects() bool {
	return v.resp != nil && v.resp.Fault == nil && !v.resp.Location.IsZero()
}

// free gives back what v holds.
func (v *visit) free() {
	if v.body != nil {
		v.body.free()
		v.body = nil
	}
	if v.heard != nil {
		v.heard.free()
	}
	v.m.memory.give(v.held)
	v.children, v.held = nil, 0
}

// visit asks for one item. A nil visit says that ctx ended: the item stays.
func (m *mirror) visit(ctx context.Context, it frontier.Item) *visit {
	v := &visit{m: m, item: it, meta: m.metas.of(it), at: m.Now().UTC().Truncate(time.Microsecond), state: frontier.Done}
	if v.meta.Run != m.total.Run || v.meta.By != m.trust.token { // an earlier listing proves nothing now
		v.meta.Size, v.meta.Time = nil, time.Time{}
	}
	var err error
	if v.url, err = uri.Parse(it.URL); err != nil {
		return v.fail(frontier.Dead, err)
	}
	if it.Key != frontier.KeyOf(it.URL) { // it would take the rights of another URL
		return v.out("the database has it under the key of another URL")
	}
	v.url = v.url.WithoutUserinfo() // only the command has logins
	v.scheme = m.schemeOf(v.url)
	v.origin, v.sited = originOf(v.url)
	if lasting(v.scheme, v.url) && it.Last != nil && !m.Recheck && m.has(it.Last) {
		v.state, v.same = frontier.Kept, true
		return v
	}
	if why := m.unwanted(v); why != "" {
		return v.out(why)
	}
	if err := m.lost(v); err != nil {
		return v.park(err)
	}
	if m.asListed(it, v.meta) {
		v.same, v.listed, v.note = true, true, "as the listing says"
		err = m.regrow(ctx, v)
	} else {
		err = m.bring(ctx, v)
	}
	if err != nil {
		m.failed(v, err)
	}
	if ctx.Err() != nil {
		v.free()
		return nil
	}
	if err != nil && !v.refused { // else the record holds the page that says no
		v.free()
	}
	return v
}

const aSession = "a session is not a document"

// unwanted tells why v is not asked for: the scope may have changed since it
// was found.
func (m *mirror) unwanted(v *visit) string {
	known := m.trust.knows(v)
	if v.meta.Under != "" {
		if under, err := uri.Parse(v.meta.Under); err == nil && (known || m.trust.near(under)) {
			m.scope.admit(under)
		}
	}
	v.meta.Named = v.meta.Named && known
	switch limit := m.Limits.FileSize; {
	case m.enough(v.item):
		return tooMany
	case limit > 0 && v.meta.Size != nil && *v.meta.Size > limit && v.scheme.Traits.Exact:
		return "too large"
	case v.scheme.Traits.Session:
		return aSession
	case v.item.Depth == 0 && (m.isSeed(v) || v.meta.From != "" && (known || m.scope.knows(v.url))):
		return ""
	}
	why, _ := m.scope.link(v.url, v.item.URL, v.item.Depth, v.meta.Extra-1, v.meta)
	return why
}

// isSeed reports whether v is a seed of this run.
func (m *mirror) isSeed(v *visit) bool { return v.meta.From == "" && m.seeds[v.item.Key] }

func (v *visit) fail(s frontier.State, err error) *visit {
	v.state, v.err, v.note = s, err, err.Error()
	return v
}

// park leaves v to the next run.
func (v *visit) park(err error) *visit {
	v.parked = true
	return v.fail(frontier.Pending, err)
}

func (v *visit) out(why string) *visit {
	v.state, v.note = frontier.Excluded, why
	return v
}

// asListed reports whether a listing proved that it is what we have: its size
// and its time to the second. A time on the minute may be a rounded one.
func (m *mirror) asListed(it frontier.Item, mt meta) bool {
	last := it.Last
	return !m.Recheck && last != nil && mt.Size != nil && *mt.Size == last.Size &&
		mt.Time.Second() != 0 && mt.Time.Equal(last.Modified) && m.has(last)
}

// bring carries out the request and reads the answer.
func (m *mirror) bring(ctx context.Context, v *visit) error {
	req := m.request(v)
	v.heard, v.asked = m.listen(v.scheme), true
	req.Trace = v.heard.trace()
	m.remind(v)
	left, err := m.left(v, req)
	if err != nil {
		return err
	}
	resp, err := m.answer(ctx, req)
	if err != nil {
		m.keep(v, left, err)
		return err
	}
	defer resp.Body.Close()
	v.resp = resp
	if why := m.passOver(v); why != "" {
		m.keep(v, left, nil)
		v.out(why)
		return nil
	}
	if err := also(m.read(v, left), v.heard.failed()); err != nil {
		return err
	}
	if resp.Doubt != "" {
		v.note = resp.Doubt
	}
	switch last := v.item.Last; {
	case resp.Unchanged, resp.Doubt != "" && last != nil && m.has(last):
		v.same = true
		return m.regrow(ctx, v)
	case resp.Fault != nil:
		v.refused = true
		return resp.Fault
	}
	if again := m.unsteady(v); again {
		return nil
	}
	last := v.item.Last
	v.repeated = last != nil && last.Digest == v.digest && last.Code == resp.Code
	v.repaired = v.repeated && m.lacksFile(last)
	if err := m.grow(ctx, v); err != nil {
		return err
	}
	m.learn(v)
	if !resp.Location.IsZero() {
		return nil
	}
	if why := m.scope.media(resp.Media); why != "" {
		v.out(why)
	} else if lasting(v.scheme, v.url) {
		v.state = frontier.Kept
	}
	return nil
}

// answer asks for req, and again where the server redirects to the same item:
// the next answer may differ. Only the last exchange is recorded.
func (m *mirror) answer(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	for hops := 0; ; hops++ {
		resp, err := m.Client.Do(ctx, req)
		if err != nil || hops == maxHops || resp.Location.IsZero() || canonical(resp.Location) != canonical(req.URL) {
			return resp, err
		}
		resp.Body.Close()
		req.URL = resp.Location.WithoutUserinfo().WithoutFragment() // which may be another spelling
		req.Trace.Restarted()
	}
}

// passOver tells why the body is not worth reading.
func (m *mirror) passOver(v *visit) string {
	switch limit := m.Limits.FileSize; {
	case v.resp.Kind == fetch.Session:
		return aSession
	case v.resp.Kind == fetch.Index && v.resp.Size < 0 && v.resp.Media == "":
		return "an index wants words"
	case limit > 0 && v.resp.Size > limit:
		return "too large"
	case v.resp.Unchanged || v.resp.Fault != nil || leads(v, v.resp):
		return ""
	default:
		return m.scope.media(v.resp.Media)
	}
}

// read brings the body to its proven end, behind what is left of it.
func (m *mirror) read(v *visit, left *save.File) (err error) {
	if v.body, err = m.spool(v, left); err != nil {
		return err
	}
	if size := v.resp.Size; size >= 0 && size < maxInMemory {
		v.body.room(int(size) + 1) // and where the end is seen
	}
	src := io.Reader(v.resp.Body)
	if limit := m.Limits.FileSize; limit > 0 {
		src = io.LimitReader(src, limit+1-v.body.size)
	}
	if _, err = io.Copy(v.body, src); err == nil && v.body.part != nil {
		err = v.body.whole()
		m.parts.Delete(partName(v.item.Key))
	}
	v.size, v.digest = v.body.size, v.body.sum()
	if limit := m.Limits.FileSize; limit > 0 && v.size > limit {
		return fetch.TooLarge.Errorf("longer than %d bytes", limit)
	}
	return err
}

// unsteady notices an object that is no longer what its listing announced. It
// is brought once more; if that is no better, the note says so.
func (m *mirror) unsteady(v *visit) (again bool) {
	announced := v.meta.Size
	if announced == nil || *announced == v.size || v.resp.Kind == fetch.Menu || !v.scheme.Traits.Exact {
		return false
	}
	if v.item.Attempts == 0 {
		v.state, v.retry, v.note = frontier.Pending, v.at, "changed since it was listed"
		v.body.free()
		v.body = nil
		return true
	}
	v.note = "its size is not what the listing says"
	return false
}

// failed decides what becomes of an item whose visit ended with err.
func (m *mirror) failed(v *visit, err error) {
	fault := fetch.FaultOf(err)
	v.local = fault == fetch.Local || fault == fetch.DiskFull || fault == fetch.Internal
	switch {
	case v.local:
		v.fail(frontier.Pending, err)
	case fault == fetch.NotFound && (v.item.Last != nil || v.meta.Name != ""): // an article that was listed has expired
		v.fail(frontier.Gone, err)
	case fault == fetch.NotFound && v.meta.Guess:
		v.fail(frontier.Excluded, err)
	case fault == fetch.TooLarge && m.Limits.FileSize > 0,
		slices.Contains([]fetch.Fault{fetch.Denied, fetch.BadPort, fetch.BadAddress, fetch.BadReferral, fetch.Unsupported, fetch.NeedQuery}, fault) && v.resp == nil:
		v.fail(frontier.Excluded, err)
	case fetch.Retryable(err) && v.item.Attempts+1 < m.Tries:
		v.fail(frontier.Pending, err)
		v.retry = v.at.Add(max(backOff(v.item.Attempts), askedFor(err)))
	case v.resp == nil && slices.Contains([]fetch.Fault{fetch.DNS, fetch.Connect, fetch.Timeout}, fault):
		v.park(err)
	default:
		v.fail(frontier.Dead, err)
	}
}
