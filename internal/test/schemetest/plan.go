package schemetest

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// Plans compares the plans of URLs, or their errors, with the expected texts.
func Plans(t *testing.T, s fetch.Scheme, want map[string]string) {
	t.Helper()
	for url, text := range want {
		if got := Plan(s, NewRequest(t, url)); got != text {
			t.Errorf("%s: got %q, want %q", url, got, text)
		}
	}
}

// FuzzPlan checks that no URL can inject a line into the commands of a scheme.
// The seeds are URLs without the name of the scheme.
func FuzzPlan(f *testing.F, s fetch.Scheme, seeds ...string) {
	for _, seed := range seeds {
		f.Add(s.Name + ":" + seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		u, err := fetch.ParseURL(url)
		if err != nil {
			return
		}
		steps, err := s.Plan(&fetch.Request{URL: u})
		if fault := fetch.FaultOf(err); err != nil && fault != fetch.BadURL && fault != fetch.NeedQuery {
			t.Errorf("got %v", err)
		}
		for _, step := range steps {
			if strings.ContainsAny(step.Arg, "\r\n\x00") {
				t.Errorf("%q", step.Arg)
			}
		}
	})
}

// Plan returns the plan of a request, or the fault and the text of its error.
func Plan(s fetch.Scheme, req *fetch.Request) string {
	steps, err := s.Plan(req)
	if err != nil {
		return failure(err, "")
	}
	return JoinSteps(steps, "; ")
}
