package finger_test

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/finger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFingerd retrieves users from a real server.
func TestFingerd(t *testing.T) {
	t.Parallel()
	s := peer.Fingerd(t)
	s.PutHome(".plan", []byte("Sail to Vinland.\x1b[2J\n"))
	c := schemetest.NewClient(t, finger.Schemes())
	for path, want := range map[string]string{
		"/" + peer.User:          "Sail to Vinland.",
		"/" + peer.User + "/w":   "Sail to Vinland.",
		"/%2FW%20" + peer.User:   "Sail to Vinland.",
		"/":                      "No one logged on.",
		"/nobody-of-this-name":   "finger: nobody-of-this-name: no such user.",
		"/a@192.0.2.1@192.0.2.2": "forwarding",
	} {
		resp, body, err := schemetest.Read(t, c, "finger://"+s.Addr+path)
		if path == "/nobody-of-this-name" {
			if err == nil && fetch.FaultOf(resp.Fault) != fetch.NotFound {
				t.Errorf("%s: got %q without the fault", path, body)
			}
			continue
		}
		if err != nil || !strings.Contains(body, want) {
			t.Errorf("%s: got %q, %v, want %q in it", path, body, err, want)
		}
	}
}

// TestReplies checks how replies of unusual servers are reported.
func TestReplies(t *testing.T) {
	ask := faultnet.Expect("^ada\r\n$")
	for _, test := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
	}{
		{"text", faultnet.Script{ask, faultnet.Send("Login: ada\r\nPlan:\r\n\x07none\r\n")}, "ok", "Login: ada\r\nPlan:\r\n\x07none\r\n"},
		{"empty", faultnet.Script{ask}, "ok", ""},
		{"no such user", faultnet.Script{ask, faultnet.Send("finger: ada: no such user.\r\n")}, "not-found", ""},
		{"user who is called so", faultnet.Script{ask, faultnet.Send("Login: ada: no such user.\r\n")}, "ok", "Login: ada: no such user.\r\n"},
		{"reset in the text", faultnet.Script{ask, faultnet.Send("Log"), faultnet.Reset()}, "truncated", "Log"},
		{"reset before the text", faultnet.Script{ask, faultnet.Reset()}, "connect", ""},
		{"silent", faultnet.Script{ask, faultnet.Stall()}, "timeout", ""},
		{"silent in the text", faultnet.Script{ask, faultnet.Send("Log"), faultnet.Stall()}, "timeout", "Log"},
		{"endless", faultnet.Script{ask, faultnet.SendBytes(1 << 40)}, "too-large", ""},
		{"refused", faultnet.Script{faultnet.Refuse()}, "connect", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := schemetest.ExchangeOnce(t, schemetest.Single{
				Schemes: finger.Schemes(), Address: "192.0.2.1:79", URL: "finger://192.0.2.1/ada", Script: test.script, MaxBody: 1 << 20,
			})
			if test.fault == "too-large" {
				test.body = r.Body
			}
			r.Check(t, test.fault, test.body, 2*time.Minute)
		})
	}
}

// TestPlan checks the request line of each form of URL.
func TestPlan(t *testing.T) {
	schemetest.Plans(t, finger.Schemes()[0], map[string]string{
		"finger://h":                     "send",
		"finger://h/":                    "send",
		"finger://h/ada":                 "send ada",
		"finger://h/ada%20lovelace":      "send ada lovelace",
		"finger://h/ada@other.example":   "send ada@other.example",
		"finger://h/w":                   "send /W",
		"finger://h/W/ada":               "send /W ada",
		"finger://h/w/ada@other.example": "send /W ada@other.example",
		"finger://h/ada/w":               "send /W ada",
		"finger://h/%2fW%20ada":          "send /W ada",
		"finger://ada@h":                 "send ada",
		"finger://ada@h/":                "send ada",
		"finger://h/%C3%A9va":            "send éva",
		"finger:ada":                     "invalid-uri: finger URL must have a host, such as finger://HOST/USER",
		"finger:///ada":                  "invalid-uri: finger URL must have a host, such as finger://HOST/USER",
		"finger://h/a?b":                 `invalid-uri: finger URL must not have a query: write "?" as %3F`,
		"finger://a@h/b":                 "invalid-uri: finger URL must be finger://HOST/USER or finger://USER@HOST",
		"finger://a:b@h/":                "invalid-uri: finger URL must be finger://HOST/USER or finger://USER@HOST",
		"finger://h/a%0D%0Ab":            "invalid-uri: control character in a user name",
		"finger://a%0Ab@h/":              "invalid-uri: control character in a user name",
		"finger://h/a%00":                "invalid-uri: control character in a user name",
		"finger://h/a%7f":                "invalid-uri: control character in a user name",
	})
}

func TestNames(t *testing.T) { schemetest.Names(t, finger.Schemes(), "finger://h.example/ada") }

func TestSuite(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Ada has no plan. \xe9\r\n", 5000)
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:79", faultnet.Script{faultnet.Lines(
		faultnet.On("^ada$", 0, faultnet.Send(text), faultnet.Fin()),
		faultnet.On("^nobody$", 0, faultnet.Send("finger: nobody: no such user.\r\n"), faultnet.Fin()),
	)})
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: finger.Schemes, Options: fetch.Options{Dial: n.Dial},
		Document: "finger://192.0.2.1/ada", Body: []byte(text), Missing: "finger://192.0.2.1/nobody",
		Rejected: []string{"finger://192.0.2.1/a%0ab", "finger://192.0.2.1:25/a", "finger://192.0.2.1:6379/a", "finger:///a"},
		NoRanges: true,
	})
}

// TestSweep injects a failure into each network operation.
func TestSweep(t *testing.T) {
	schemetest.Sweep{
		Schemes: finger.Schemes, URLs: []string{"finger://192.0.2.1/ada"}, Body: "no plan",
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:79", faultnet.Script{faultnet.Expect("^ada\r\n"), faultnet.Send("no plan")}).Close
		},
	}.Run(t)
}

// FuzzPlan checks that no URL adds a line to the request.
func FuzzPlan(f *testing.F) {
	schemetest.FuzzPlan(f, finger.Schemes()[0], "//h/ada", "//h/w/ada", "//h/%2fw%20a", "//h/a%0d%0ab", "//h//w", "//h/w/w", "//h/@h@h", "//h/%")
}
