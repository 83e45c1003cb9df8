package baseuri_test

import (
	"fmt"

	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/uri"
)

func ExampleOf() {
	b, from := baseuri.Of(baseuri.Document{
		Media:     "text/html",
		Head:      []byte(`<HTML><HEAD><BASE href="http://www.ics.uci.edu/Test/a/b/c">`),
		Retrieved: uri.MustParse("http://mirror.example/page"),
	})
	u, err := b.Resolve(uri.MustParse("../x"))
	fmt.Println(u, err, "by", from)
	// Output: http://www.ics.uci.edu/Test/a/x <nil> by html base
}
