// Package faultnet provides a network that fails on purpose, for tests only.
//
// A server executes one script per connection and keeps the bytes of its
// clients. A Network is in memory and works in testing/synctest bubbles:
//
//	net := faultnet.NewNetwork(t)
//	s := net.Serve("192.0.2.1:70",
//		faultnet.Script{faultnet.Expect(`^/motd\r\n`), faultnet.Send("hel"), faultnet.Reset()},
//		faultnet.Script{faultnet.Expect(`^/motd\r\n`), faultnet.Send("hello\r\n.\r\n")})
//	client := fetch.New(fetch.Options{Dial: net.Dial}, ...)
//
// [Listen] serves on real loopback sockets, for behavior that only a kernel
// has. [Lines] attaches steps to the commands of a line protocol. [Packets]
// loses, duplicates and delays datagrams. [Sweep] runs a test once for each of
// its I/O operations and makes that operation fail.
//
// All servers stop at the end of the test. Close stops one earlier.
package faultnet
