package wais_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/waistest"
)

func TestSuite(t *testing.T) {
	var text strings.Builder
	for n := range 4000 {
		fmt.Fprintf(&text, "Line %05d of the big document about leviathan and other large whales\n", n+1)
	}
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:210", faultnet.Script{waistest.FreeWAIS(t).Step()})
	var refused []string
	for _, path := range []string{"notes", "notes/TEXT", "no%00tes?x", "notes%40other?x", "notes?a%0D%0Ab", "notes/TE%0AXT/3=a;", "notes/TEXT/3=a;#line=2,1"} {
		refused = append(refused, host+path)
	}
	for _, port := range []string{"25", "79", "6379", "11211", "0", "65746"} {
		refused = append(refused, "wais://192.0.2.1:"+port+"/notes?x")
	}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: schemes, Options: fetch.Options{Dial: n.Dial},
		Document: host + "notes/" + big, Body: []byte(text.String()),
		Missing: host + "notes/TEXT/100/1=foo;2=notes;3=bar;7=%00;",
		Menu:    host + "notes?whale", Names: []string{"alpha.txt   /srv/wais/data/", "beta.txt   /srv/wais/data/"},
		Rejected: refused,
	})
}
