package htmltext

import "testing"

func TestPlain(t *testing.T) {
	for name, tc := range map[string]struct{ page, want string }{
		"blocks and inline elements": {"<title>t</title><h1>A</h1><p>f<b>o</b>o<br>b &amp;\n c<td>d", "A foo b & c d"},
		"scripts and styles":         {"<style>a</style>b<script>'<p>c'</script>d<!-- e -->", "b d"},
		"encoding in meta":           {"<meta charset=latin1>caf\xe9", "caf\u00e9"},
		"unsupported encoding":       {"<meta charset=koi8-r>caf\xe9", ""},
		"no markup":                  {" a ", "a"},
	} {
		if got := Plain([]byte(tc.page), "text/html"); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
