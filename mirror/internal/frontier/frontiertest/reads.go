package frontiertest

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func testRead(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	a, b := url("a", 1), url("a", 2)
	tr.add(2, a, b)
	l := tr.lease("w", "a", 9)
	old, article, empty := newCapture(a, 1), newCapture(b, 1), newCapture(a, 0)
	article.URL = "news:1@x"
	article.Key = frontier.KeyOf(article.URL)
	full := frontier.Capture{
		Key: a.Key, URL: a.URL, Run: 1, Time: tr.now().Add(123456 * time.Microsecond), Kind: "document", Media: "text/html; charset=x", Code: 200,
		Size: 1 << 40, Digest: [32]byte{9, 31: 9}, Validator: "W/\"\xe9\"", Modified: time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC),
		Path: "http/a/é'?", File: "x.warc.gz.open", Offset: 1 << 41, Length: 1 << 20, ID: "<urn:uuid:1>", Proof: "sha1:ABC", Checksum: 1<<32 - 1,
	}
	empty.Size, empty.Digest = 0, [32]byte{}
	for _, c := range []*frontier.Capture{old, empty, &full} {
		tr.must(tr.Complete(tr.ctx, l, []frontier.Result{{Item: a, State: frontier.Done, Capture: c}}, nil))
	}
	tr.must(tr.Complete(tr.ctx, l, []frontier.Result{{Item: b, State: frontier.Gone, Capture: article,
		Names: []frontier.Name{{Fold: "news"}, {Fold: "news/1", Key: article.Key}}}}, map[string]int64{"f": 7, "g": 0}))

	var all []frontier.Capture
	for c, err := range tr.Captures(tr.ctx) {
		tr.must(err)
		all = append(all, c)
	}
	if len(all) != 4 || all[0] != *old || all[1] != *empty || all[2] != full || all[3] != *article {
		t.Errorf("captures:\n%+v\nwant the third as\n%+v", all, full)
	}
	found, err := tr.NewestCaptures(tr.ctx, []frontier.Key{a.Key, b.Key, article.Key, {}})
	if err != nil || len(found) != 2 || found[a.Key] != full || found[article.Key] != *article {
		t.Errorf("NewestCaptures: %+v, %v", found, err)
	}
	first, err := tr.CapturesByDigest(tr.ctx, [][32]byte{old.Digest, full.Digest, {1}})
	if err != nil || len(first) != 1 || first[full.Digest] != full { // the older capture has no record
		t.Errorf("CapturesByDigest: %+v, %v", first, err)
	}
	names, err := tr.NameOwners(tr.ctx, []string{"news", "news/1", "News", ""})
	if err != nil || len(names) != 2 || names["news/1"] != article.Key {
		t.Errorf("NameOwners: %v, %v", names, err)
	}
	if k, ok := names["news"]; !ok || !k.IsZero() {
		t.Errorf("the owner of a folder: %v, %v", k, ok)
	}
	ends, err := tr.FileEnds(tr.ctx)
	if end, ok := ends["g"]; err != nil || len(ends) != 2 || ends["f"] != 7 || !ok || end != 0 {
		t.Errorf("FileEnds: %v, %v", ends, err)
	}
	if st := tr.stats(); st.Captures != 4 || st.Bytes != 20+1<<40 {
		t.Errorf("%+v", st)
	}

	// The caller may modify the frontier during an iteration over its items.
	many := make([]frontier.Item, 1500)
	for i := range many {
		many[i] = url("b", i)
	}
	tr.add(1500, many...)
	n := 0
	for item, err := range tr.Items(tr.ctx, frontier.Pending) {
		tr.must(err)
		if n++; n%300 == 0 {
			tr.add(1, url("c", n))
		}
		if item.Host == "c" {
			break // the caller may stop the iteration
		}
	}
	if n != 1501 {
		t.Errorf("read %d items", n)
	}
	if n, err := tr.Requeue(tr.ctx, frontier.Gone, frontier.Pending); n != 1 || err != nil {
		t.Errorf("Requeue: %d, %v", n, err)
	}
}
