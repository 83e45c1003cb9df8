package replay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Limits for the pages and scripts in memory.
const (
	maxModule  = 4 << 20  // size of a page or script in which URLs are replaced
	maxChanged = 2        // texts that are changed at the same time
	maxTexts   = 64 << 20 // bytes of all texts

	// textWait is the time that a request waits until clients have read other
	// texts.
	textWait = 5 * time.Second
)

// A textBudget limits the memory of the pages and scripts that are read completely,
// because their URLs are replaced. A text has a place only while it is changed,
// which needs a multiple of its memory and which no client can delay. The bytes of
// a text count until the client has read them. It is safe for concurrent use.
type textBudget struct {
	places chan struct{}

	mu    sync.Mutex
	free  int           // bytes that are available for further texts; negative if changed texts have grown
	freed chan struct{} // closed and replaced after free has increased
}

func newTextBudget(limit int) *textBudget {
	return &textBudget{places: make(chan struct{}, maxChanged), free: limit, freed: make(chan struct{})}
}

// reserve takes size bytes. It waits at most textWait for them, and returns false
// if they are not available.
func (t *textBudget) reserve(ctx context.Context, size int) bool {
	ctx, cancel := context.WithTimeout(ctx, textWait)
	defer cancel()
	for {
		t.mu.Lock()
		ok, freed := t.free >= size, t.freed
		if ok {
			t.free -= size
		}
		t.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

// give returns n bytes. If n is negative, it takes bytes without waiting.
func (t *textBudget) give(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free += n
	close(t.freed)
	t.freed = make(chan struct{})
}

// errBusy means that clients have not read enough texts within textWait, or that too
// many bodies of requests are in memory.
var errBusy = errors.New("too many texts are in memory")

// read reads the body of resp, of at most maxModule bytes, and changes it. It
// returns the beginning of a longer body unchanged. The caller calls release after
// the client has read the text, also after an error.
func (t *textBudget) read(ctx context.Context, resp *fetch.Response, change func([]byte) []byte) (text []byte, release func(), err error) {
	reserved := maxModule
	if resp.Size >= 0 && resp.Size < maxModule {
		reserved = int(resp.Size)
	}
	if !t.reserve(ctx, reserved) {
		return nil, func() {}, errBusy
	}
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxModule+1))
	if err == nil && len(text) <= maxModule {
		text = t.change(text, change)
	}
	size := len(text)
	t.give(reserved - size)
	return text, func() { t.give(size) }, err
}

// change calls f when fewer than maxChanged texts are changed.
func (t *textBudget) change(text []byte, f func([]byte) []byte) []byte {
	t.places <- struct{}{}
	defer func() { <-t.places }()
	return f(text)
}

// refusePost sends an error after an error of requestOf.
func refusePost(w http.ResponseWriter, err error) {
	if errors.Is(err, errBusy) {
		refuseBusy(w)
		return
	}
	refuse(w, http.StatusBadRequest, "The body of the request cannot be read.")
}

// refuseBusy sends an error after errBusy.
func refuseBusy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	w.Header().Set("Cache-Control", "no-store")
	refuse(w, http.StatusServiceUnavailable, "The server is busy. Load the page again later.")
}
