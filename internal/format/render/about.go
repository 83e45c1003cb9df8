package render

import (
	"encoding/hex"
	"hash"
	"io"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
)

// about contains the properties of an object, which its page shows at the end.
type about struct {
	Facts []Fact
	Bytes string // link to the unchanged bytes of the object, or ""
}

// maxDrained limits the bytes that are read after the displayed bytes, only to
// compute the digest.
const maxDrained = 64 << 20

// about returns the properties of the object. If complete is true, the page
// shows the complete object, and about reads the body to its end for the
// digest.
func (v *View) about(complete bool) *about {
	r := v.Response
	a := &about{Bytes: v.Links.Bytes(v.URL), Facts: []Fact{{Name: "URL", Value: v.URL.WithoutUserinfo().String()}}}
	add := func(name, value string) {
		if value != "" {
			a.Facts = append(a.Facts, Fact{Name: name, Value: value})
		}
	}
	if r.Peer.IsValid() {
		add("Server", r.Peer.String())
	}
	add("Type", tty.Escape(r.Media))
	if !r.Time.IsZero() {
		a.Facts = append(a.Facts, Fact{Name: "Modified", Value: FormatDate(r.Time), Machine: r.Time.UTC().Format(time.RFC3339)})
	}
	d, ok := r.Body.(*digester)
	if ok && complete {
		io.CopyN(io.Discard, d, maxDrained) // an error means that there is no digest
	}
	switch {
	case ok && d.ended:
		add("Size", FormatSize(d.size))
		add("SHA-256", hex.EncodeToString(d.hash.Sum(nil)))
	case r.Size > 0:
		add("Size", FormatSize(r.Size))
	}
	if r.Doubt != "" {
		add("Note", "The object may be incomplete: "+tty.Escape(r.Doubt))
	}
	return a
}

// A digester is a body that computes the digest of its bytes.
type digester struct {
	io.ReadCloser
	hash  hash.Hash
	size  int64
	ended bool // the body was read to its end
}

func (d *digester) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.hash.Write(p[:n])
	d.size += int64(n)
	d.ended = d.ended || err == io.EOF
	return n, err
}

// image writes a page that shows an image.
func (v *View) image(w io.Writer) error {
	return execute(w, "image", struct {
		Page
		URL, Inline, Bytes string
		About              *about
	}{v.Page, v.URL.String(), v.Links.Inline(v.URL), v.Links.Bytes(v.URL), v.about(true)})
}
