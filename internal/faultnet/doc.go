// Package faultnet is a network that misbehaves on purpose. Only tests may
// import it.
//
// A server follows scripts, one a connection; what a client sends is kept.
// In memory, for tests in a testing/synctest bubble:
//
//	net := faultnet.NewNetwork(t)
//	s := net.Serve("192.0.2.1:70",
//		faultnet.Script{faultnet.Expect(`^/motd\r\n`), faultnet.Send("hel"), faultnet.Reset()},
//		faultnet.Script{faultnet.Expect(`^/motd\r\n`), faultnet.Send("hello\r\n.\r\n")})
//	client := fetch.New(fetch.Options{Dial: net.Dial}, ...)
//
// On real sockets of loopback, for what only a kernel does: [Listen]. For line
// protocols a script hooks its steps to commands: [Lines]. Datagrams are lost,
// doubled and late by [Packets]. [Sweep] runs a test once for each I/O operation
// that it makes and lets that operation fail.
//
// Everything ends when the test ends, or before by Close.
package faultnet
