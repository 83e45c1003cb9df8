package warc

import (
	"fmt"
	"testing"

	"github.com/anyurl/fetch/internal/browsertest"
)

// TestReplayWebLargeIndex opens captures of each scheme through a compressed
// index in ReplayWeb.page, in each block of the index.
func TestReplayWebLargeIndex(t *testing.T) {
	t.Parallel()
	_, path, urls := packLarge(t)
	r := browsertest.OpenWACZ(t, path, urls[0])
	text := func(i int) string { return fmt.Sprintf("doc.body.innerText == '%d'", i) }
	r.Wait(text(0))
	for i := 1; i < len(urls); i += len(urls) / 8 {
		r.Show(urls[i], text(i))
	}
	r.Show(urls[len(urls)-1], text(len(urls)-1))
}
