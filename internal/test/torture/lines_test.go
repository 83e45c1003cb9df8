package torture

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// ftpVersion is the validator of object for ftp: its size and time.
const ftpVersion = "100000-19991231235959"

// ftp serves one session of an FTP server (RFC 959) with extensions.
func (w *world) ftp(c net.Conn, r *bufio.Reader) {
	say := func(text string) { io.WriteString(c, text+"\r\n") }
	say("220 hello")
	var data <-chan net.Conn
	rest := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		verb, arg, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		switch verb {
		case "USER":
			say("331 password?")
		case "PASS":
			say("230 welcome")
		case "TYPE", "CWD":
			say("200 yes")
		case "SIZE":
			say(fmt.Sprint("213 ", len(object)))
		case "MDTM":
			say("213 19991231235959")
		case "EPSV", "PASV":
			w.mu.Lock()
			w.ports++
			port := 50_000 + w.ports
			w.mu.Unlock()
			data = w.acceptOne(netip.AddrPortFrom(netip.MustParseAddr("8.8.8.8"), uint16(port)))
			if verb == "PASV" {
				say(fmt.Sprintf("227 here (8,8,8,8,%d,%d)", port>>8, port&0xff))
			} else {
				say(fmt.Sprintf("229 here (|||%d|)", port))
			}
		case "REST":
			rest, _ = strconv.Atoi(arg)
			say("350 from there")
		case "RETR":
			w.countRequest(fmt.Sprintf("RETR %s from %d", arg, rest))
			say("150 it comes")
			say(send(data, object[rest:]))
		case "QUIT":
			say("221 bye")
			return
		default:
			say("500 what?")
		}
	}
}

// send sends text on the connection from data and returns the reply.
func send(data <-chan net.Conn, text string) string {
	select {
	case c := <-data:
		defer c.Close()
		if _, err := io.WriteString(c, text); err != nil {
			return "426 broken"
		}
		return "226 done"
	case <-time.After(30 * time.Second):
		return "425 nobody comes"
	}
}

// gopher serves one request of RFC 1436.
func (w *world) gopher(c net.Conn, r *bufio.Reader) {
	line, err := r.ReadString('\n')
	if err != nil {
		return
	}
	selector := strings.TrimRight(line, "\r\n")
	w.countRequest(selector)
	io.WriteString(c, object)
	if selector == "/text" {
		io.WriteString(c, ".\r\n")
	}
}

// nntp serves one session of an NNTP server (RFC 3977) with one article.
func (w *world) nntp(c net.Conn, r *bufio.Reader) {
	say := func(text string) { io.WriteString(c, text+"\r\n") }
	say("200 hello")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		command := strings.TrimRight(line, "\r\n")
		switch verb, _, _ := strings.Cut(command, " "); verb {
		case "MODE":
			say("200 yes")
		case "GROUP":
			say("211 1 2 2 local.test")
		case "ARTICLE":
			w.countRequest(command)
			say("220 2 <2@local.test> it comes\r\n" + object + ".")
		case "QUIT":
			say("205 bye")
			return
		default:
			say("500 what?")
		}
	}
}
