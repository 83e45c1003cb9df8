package manual

import "testing"

// TestTopic checks the conversion of links and comments.
func TestTopic(t *testing.T) {
	for _, c := range []struct{ oddity, text, want string }{
		{"page", "See [Policy](policy.md).\n", "See Policy (fetch help policy).\n"},
		{"section of a page", "[a](warc.md#http-and-https) and [b](downloading.md)\n", "a (fetch help warc) and b (fetch help downloading)\n"},
		{"file that is no page", "[the folders](../ARCHITECTURE.md)\n", "the folders\n"},
		{"web page", "[curl](https://curl.se/)\n", "curl (https://curl.se/)\n"},
		{"code block", "    fetch '[a](b.md)'\n", "    fetch '[a](b.md)'\n"},
		{"comment between a list and a code block", "* a\n\n<!-- -->\n\n    b\n", "* a\n\n    b\n"},
		{"brackets without a link", "`[1-9]` (a)\n", "`[1-9]` (a)\n"},
	} {
		if got := Topic(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.oddity, got, c.want)
		}
	}
}
