package ftp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/ftp"
)

// TestPlan has a URL, and the commands that it is, by ", ": RFC 1738 3.2.2.
func TestPlan(t *testing.T) {
	const (
		login = "USER anonymous, PASS ***, "
		data  = "EPSV (else PASV), "
		image = "TYPE I, " + data
		list  = "TYPE A, " + data + "MLSD (else LIST)"
	)
	single, none := ftp.Options{Method: ftp.SingleCWD}, ftp.Options{Method: ftp.NoCWD}
	for _, test := range []struct {
		opts      ftp.Options
		url, want string
	}{
		// The examples of the RFC.
		{ftp.Options{}, "ftp://myname@host.dom/%2Fetc/motd", "USER myname, PASS ***, CWD /etc, " + image + "RETR motd"},
		{ftp.Options{}, "ftp://myname@host.dom/etc/motd", "USER myname, PASS ***, CWD etc, " + image + "RETR motd"},
		{ftp.Options{}, "ftp://myname@host.dom//etc/motd", "USER myname, PASS ***, CWD, CWD etc, " + image + "RETR motd"},
		{ftp.Options{}, "ftp://info.cern.ch/pub/www/doc;type=d", login + "CWD pub, CWD www, CWD doc, " + list},
		{ftp.Options{}, "ftp://ds.internic.net/rfc", login + image + "RETR rfc"},
		{ftp.Options{}, "ftp://ds.internic.net/rfc/rfc1436.txt;type=a", login + "CWD rfc, TYPE A, " + data + "RETR rfc1436.txt"},
		{ftp.Options{}, "ftp://foo:@host.com/x", "USER foo, PASS ***, " + image + "RETR x"},

		// Everything may be left out.
		{ftp.Options{}, "ftp://h", login + list},
		{ftp.Options{}, "ftp://h/", login + list},
		{ftp.Options{}, "ftp://h/;type=d", login + list},
		{ftp.Options{}, "ftp://h//", login + "CWD, " + list},
		{ftp.Options{}, "ftp://h/a/", login + "CWD a, " + list},
		{ftp.Options{}, "ftp://h/a/;type=i", login + "CWD a, " + list}, // no name: a directory
		{ftp.Options{}, "ftp://h/a//b", login + "CWD a, CWD, " + image + "RETR b"},

		// What is decoded, and when.
		{ftp.Options{}, "ftp://h/a%2Fb%3Bc/d%20e%3Ftype=a", login + "CWD a/b;c, " + image + "RETR d e?type=a"},
		{ftp.Options{}, "ftp://h/x?y/z?;type=A", login + "CWD x?y, TYPE A, " + data + "RETR z?"},
		{ftp.Options{}, "ftp://h/x?", login + image + "RETR x?"},
		{ftp.Options{}, "ftp://h/x#fragment", login + image + "RETR x"},
		{ftp.Options{}, "ftp://h/%252F", login + image + "RETR %2F"},
		{ftp.Options{}, "ftp://h/x;TYPE=D", login + "CWD x, " + list},
		{ftp.Options{}, "ftp://h/x;type%3Da", login + image + "RETR x;type=a"},
		{ftp.Options{}, "ftp://h/x;1", login + image + "RETR x;1"}, // VMS
		{ftp.Options{}, "ftp://h/x;type=a/y", login + "CWD x;type=a, " + image + "RETR y"},
		{ftp.Options{}, "ftp://h/../x", login + "CWD .., " + image + "RETR x"},

		// Homes: only at the beginning.
		{ftp.Options{}, "ftp://h/~user/x", login + "CWD ~user, " + image + "RETR x"},
		{ftp.Options{}, "ftp://h/~user", login + image + "RETR ~user"},
		{ftp.Options{}, "ftp://h/a/~", login + "CWD a, " + image + "RETR ./~"},
		{ftp.Options{}, "ftp://h/a/~b/~c/", login + "CWD a, CWD ./~b, CWD ./~c, " + list},
		{none, "ftp://h/a/~", login + image + "RETR a/~"},

		// Methods.
		{single, "ftp://h/a/b/c", login + "CWD a/b, " + image + "RETR c"},
		{single, "ftp://h//a/b/c", login + "CWD /a/b, " + image + "RETR c"},
		{single, "ftp://h//c", login + "CWD /, " + image + "RETR c"},
		{single, "ftp://h/c", login + image + "RETR c"},
		{single, "ftp://h/a/b/", login + "CWD a/b, " + list},
		{none, "ftp://h/a/b/c", login + image + "RETR a/b/c"},
		{none, "ftp://h//c", login + image + "RETR /c"},
		{none, "ftp://h/%2Fa/c", login + image + "RETR /a/c"},
		{none, "ftp://h//", login + "TYPE A, " + data + "MLSD / (else LIST)"},
		{none, "ftp://h/-a/", login + "TYPE A, " + data + "MLSD ./-a (else LIST)"},

		// Options.
		{ftp.Options{ASCII: true}, "ftp://h/x", login + "TYPE A, " + data + "RETR x"},
		{ftp.Options{ASCII: true}, "ftp://h/x;type=i", login + image + "RETR x"},
		{ftp.Options{NamesOnly: true}, "ftp://h/", login + "TYPE A, " + data + "NLST"},
		{ftp.Options{NoEPSV: true}, "ftp://h/x", login + "TYPE I, PASV, RETR x"},
		{ftp.Options{Active: "-"}, "ftp://h/x", login + "TYPE I, EPRT (else PORT), RETR x"},
		{ftp.Options{Active: "-", NoEPRT: true}, "ftp://h/x", login + "TYPE I, PORT, RETR x"},
		{ftp.Options{TLS: scheme.TLSRequired}, "ftp://h/x", "AUTH TLS, " + login + "PBSZ 0, PROT P, " + image + "RETR x"},
		{ftp.Options{ClearData: true}, "ftps://h/x", login + "PBSZ 0, PROT C, " + image + "RETR x"},
	} {
		if got := planOf(t, test.opts, &fetch.Request{}, test.url); got != test.want {
			t.Errorf("%s %+v\n got %s\nwant %s", test.url, test.opts, got, test.want)
		}
	}
}

func planOf(t *testing.T, opts ftp.Options, req *fetch.Request, url string) string {
	t.Helper()
	c := fetch.New(fetch.Options{}, ftp.Schemes(opts)...)
	defer c.Close()
	var err error
	if req.URL, err = fetch.ParseURL(url); err != nil {
		t.Fatal(err)
	}
	steps, err := c.Plan(req)
	if err != nil {
		return "error " + fetch.FaultOf(err).String()
	}
	return schemetest.JoinSteps(steps, ", ")
}

func TestPlanOfRequest(t *testing.T) {
	const login = "USER anonymous, PASS ***, "
	for _, test := range []struct {
		req       fetch.Request
		url, want string
	}{
		{fetch.Request{Op: fetch.Stat}, "ftp://h/a/x", login + "CWD a, TYPE I, SIZE x (else MLST), MDTM x"},
		{fetch.Request{Op: fetch.Stat}, "ftp://h/a/", login + "CWD a"},
		{fetch.Request{Range: fetch.Range{First: 5}}, "ftp://h/x", login + "TYPE I, EPSV (else PASV), REST 5, RETR x"},
		{fetch.Request{Range: fetch.Range{First: 5}}, "ftp://h/x;type=a", login + "TYPE A, EPSV (else PASV), RETR x"},
		{fetch.Request{Range: fetch.Range{End: 5}}, "ftp://h/x", login + "TYPE I, EPSV (else PASV), RETR x"},
	} {
		if got := planOf(t, ftp.Options{}, &test.req, test.url); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.url, got, test.want)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	c := fetch.New(fetch.Options{}, ftp.Schemes(ftp.Options{})...)
	defer c.Close()
	for _, url := range []string{
		"ftp:x", "ftp:/x", "ftp:///x",
		"ftp://h/a%0D%0ADELE%20b", "ftp://h/a%0Ab/c", "ftp://h/%00", "ftp://h/a%0d/",
		"ftp://a%0D%0ADELE%20b@h/", "ftp://a:b%0Ac@h/", "ftp://a:b%00@h/",
		"ftp://h/x;type=x", "ftp://h/x;type=", "ftp://h/x;type=ai", "ftp://h/x;type=%61",
		"ftp://h/" + strings.Repeat("x", 506), "ftp://h/" + strings.Repeat("%FF", 253), "ftp://" + strings.Repeat("x", 506) + "@h/",
	} {
		u, err := fetch.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		if steps, err := c.Plan(&fetch.Request{URL: u}); !errors.Is(err, fetch.BadURL) {
			t.Errorf("%.80s: got %v, %v, want a bad URL", url, steps, err)
		}
	}
}
