package links

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestMediaFormats extracts the links of documents that are not markup.
func TestMediaFormats(t *testing.T) {
	for _, c := range []struct{ name, media, body, want string }{
		{"HLS", "application/vnd.apple.mpegurl", "#EXTM3U\r\n#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow/a.m3u8\n\n# comment\nhttp://x/b.ts\n",
			"requisite playlist URI http://h/d/key\nrequisite playlist http://h/d/low/a.m3u8\nrequisite playlist http://x/b.ts\n"},
		{"HLS with a line over the limit", "audio/mpegurl", "a.ts\n" + strings.Repeat("x", maxReference+1) + "\nb.ts\n", "requisite playlist http://h/d/a.ts\n"},
		{"DASH", "application/dash+xml", `<MPD><Period><BaseURL>dir/</BaseURL><SegmentList><Initialization sourceURL="i.mp4"/><SegmentURL media="1.m4s"/></SegmentList><SegmentTemplate media="$Number$.m4s" initialization="t.mp4"/><BaseURL>whole.mp4</BaseURL></Period></MPD>`,
			"requisite initialization http://h/d/i.mp4\nrequisite segmenturl http://h/d/1.m4s\nrequisite segmenttemplate http://h/d/t.mp4\nrequisite baseurl http://h/d/whole.mp4\n"},
		{"web app manifest", "application/manifest+json", `{"name":"x","start_url":"/app","icons":[{"src":"i.png","sizes":"1x1"}],"shortcuts":[{"url":"/new","icons":[{"src":"n.png"}]}]}`,
			"page json start_url http://h/app\nrequisite json src http://h/d/i.png\npage json url http://h/new\nrequisite json src http://h/d/n.png\n"},
		{"JSON nested too deeply", "application/ld+json", strings.Repeat("[", maxDepth+1) + `{"url":"/a"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := extracted(t, here, c.media, nil, strings.NewReader(c.body)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestContentLocation extracts the Content-Location of a response.
func TestContentLocation(t *testing.T) {
	header := fetch.Header{{Name: "Content-Location", Value: "page.en.html"}}
	want := "page Content-Location http://h/d/page.en.html\n"
	if got := extracted(t, here, "text/plain", header, strings.NewReader("")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRewriteNested replaces references inside nested documents.
func TestRewriteNested(t *testing.T) {
	for in, want := range map[string]string{
		`<iframe srcdoc="<a href=a>x</a>">`:                 `<iframe srcdoc="&lt;a href=&quot;L&quot;>x&lt;/a>">`,
		`<!--[if IE]><img src="b"><![endif]-->`:             `<!--[if IE]><img src="L"><![endif]-->`,
		`<!--[if IE]>text<![endif]--><!--[if IE]>not ended`: `<!--[if IE]>text<![endif]--><!--[if IE]>not ended`,
	} {
		var out strings.Builder
		err := Rewrite(&out, schemeNamed, uri.MustParse(here), "text/html", nil, strings.NewReader(in), func(Link) string { return "L" })
		if err != nil || out.String() != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", in, out.String(), err, want)
		}
	}
}
