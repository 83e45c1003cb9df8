package main

import (
	"os"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestFinger retrieves the information about a user of a finger server.
func TestFinger(t *testing.T) {
	s := peer.Fingerd(t)
	s.PutHome(".plan", []byte("Sail to Vinland.\n"))
	url := "finger://" + s.Addr + "/" + peer.User
	contains(t, runFetch(t, 0, url), "Login: alice", "Sail to Vinland.\r\n")
	contains(t, runFetch(t, 0, "info", url), "text/plain")
	contains(t, runFetch(t, 0, "plan", "finger://h/w/alice"), "send /W alice")
	contains(t, commandtest.MirrorOne(t, url), "Sail to Vinland.\r\n", "WARC-Target-URI: "+url)
	runFetch(t, 8, "finger://"+s.Addr+"/nobody-of-this-name")
	runFetch(t, 12, "ls", url)
}

// TestDict retrieves definitions of a dictionary server, and searches it.
func TestDict(t *testing.T) {
	s := peer.Dictd(t, peer.Dictionary{Name: "animals", Description: "Animals", Definitions: map[string]string{"whale": "A mammal."}})
	host := "dict://" + s.Addr
	contains(t, runFetch(t, 0, host+"/d:whale"), "From Animals [animals]:\r\n\r\nwhale\r\nA mammal.\r\n")
	contains(t, runFetch(t, 0, "ls", host), "animals")
	contains(t, runFetch(t, 0, "search", "--json", host, "whale"), "d:whale:animals")
	contains(t, runFetch(t, 0, "ls", host+"/m:wh:animals:prefix"), "whale")
	contains(t, runFetch(t, 0, "info", host+"/d:whale"), "text/plain; charset=utf-8")
	contains(t, commandtest.MirrorOne(t, host+"/m:wh:animals:prefix"), "WARC-Target-URI: "+host+"/d:whale:animals\r\n", "A mammal.\r\n")
	runFetch(t, 8, host+"/d:squid")
	runFetch(t, 2, host+"/d::animals")
}

// TestWhois retrieves records of a whois server that sends recorded responses.
func TestWhois(t *testing.T) {
	record, err := os.ReadFile("../../schemes/whois/testdata/apnic.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := faultnet.Listen(t, faultnet.Script{faultnet.Lines(
		faultnet.On(`^1\.1\.1\.1$`, 0, faultnet.Send(string(record)), faultnet.Fin()),
		faultnet.On("^none$", 0, faultnet.Send("%ERROR:101: no entries found\n"), faultnet.Fin()),
		faultnet.On("^moved$", 0, faultnet.Send("refer: whois.example.org:25\n"), faultnet.Fin()),
	)})
	host := "whois://" + s.Addr().String()
	contains(t, runFetch(t, 0, host+"/1.1.1.1"), "netname:        APNIC-LABS\n")
	contains(t, runFetch(t, 0, "search", "--native", host, "1.1.1.1"), "APNIC-LABS")
	contains(t, runFetch(t, 0, "plan", "whois:1.1.1.1"), "whois://whois.iana.org/1.1.1.1")
	contains(t, runFetch(t, 0, "--no-location", host+"/moved"), "refer: whois.example.org:25\n")
	contains(t, commandtest.MirrorOne(t, host+"/1.1.1.1"), "APNIC-LABS")
	runFetch(t, 8, host+"/none")
	runFetch(t, 9, host+"/moved")
	runFetch(t, 2, host)
}

// TestTftp retrieves files of a TFTP server.
func TestTftp(t *testing.T) {
	s := peer.Tftpd(t)
	s.Put("boot/menu.txt", []byte("the menu\n"))
	url := "tftp://" + s.Addr + "/boot/menu.txt"
	contains(t, runFetch(t, 0, url), "the menu\n")
	contains(t, runFetch(t, 0, "--tftp-no-options", url), "the menu\n")
	contains(t, runFetch(t, 0, "info", url), "text/plain", "9")
	contains(t, runFetch(t, 0, "plan", "--tftp-blksize", "512", url), "RRQ boot/menu.txt octet tsize 0 blksize 512 timeout 2")
	contains(t, commandtest.MirrorOne(t, url), "the menu\n", "WARC-Target-URI: "+url+"\r\n")
	runFetch(t, 8, "tftp://"+s.Addr+"/none")
	runFetch(t, 2, "--tftp-blksize", "7", url)
	runFetch(t, 2, "tftp://"+s.Addr+"/")
	runFetch(t, 12, "ls", url)
}

// TestWhoisPlusPlus retrieves records and referrals of a Whois++ server, in the
// form of RFC 1835.
func TestWhoisPlusPlus(t *testing.T) {
	const ready, end = "% 220-Hello\r\n% 220 Ready\r\n", "% 226 Transaction complete\r\n"
	s := faultnet.Listen(t, faultnet.Script{faultnet.Send(ready), faultnet.Lines(
		faultnet.On("^name=ada$", 0, faultnet.Send("% 200 ok\r\n# FULL USER H A1\r\n NAME: Ada\r\n# END\r\n"+end), faultnet.Fin()),
		faultnet.On("^template=user$", 0, faultnet.Send("% 200 ok\r\n# HANDLE USER H A1\r\n# SERVER-TO-ASK\r\n HOST-NAME: h.example\r\n# END\r\n"+end), faultnet.Fin()),
		faultnet.On("^handle=A1$", 0, faultnet.Send("% 200 ok\r\n# FULL USER H A1\r\n NAME: Ada\r\n# END\r\n"+end), faultnet.Fin()),
		faultnet.On(".", 0, faultnet.Send("% 200 ok\r\n"+end), faultnet.Fin()),
	)})
	host := "whois++://" + s.Addr().String()
	contains(t, runFetch(t, 0, host+"/name=ada"), " NAME: Ada\r\n")
	contains(t, runFetch(t, 0, "ls", "--json", host+"/template=user"), host+"/handle=A1", "whois++://h.example/template=user")
	contains(t, runFetch(t, 0, "search", "--json", host, "template=user"), host+"/handle=A1")
	contains(t, commandtest.MirrorOne(t, host+"/template=user"), "WARC-Target-URI: "+host+"/handle=A1\r\n", " NAME: Ada\r\n")
	runFetch(t, 8, host+"/name=none")
	runFetch(t, 2, host)
}
