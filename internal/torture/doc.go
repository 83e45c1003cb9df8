// Package torture holds nothing but tests: whole transfers, from a URL to a
// file, in which one thing goes wrong.
//
// TestSweep runs each scenario (servers and proxies in memory, the Client, the
// Retry and Segments middleware, package save) once to count its operations on
// the network and on the file system, and then once more for each of them and
// each way in which it can fail. Make test takes every seventh operation, make
// soak all (TestSoakSweep). After each run these invariants must hold:
//
//	I1  the error is of a class that the failure may have, or there is none
//	I2  the file is absent, what it was, or whole; nothing else is left
//	I3  the bytes delivered are the first of the object, and all of them
//	    where there is no error
//	I4  no connection, file or goroutine is left
//	I5  it took no longer than the sum of the limits that applied; each
//	    operation had a deadline
//	I6  no more connections and requests than one further attempt needs, none
//	    after the caller gave up
//	I7  no secret and no control character in errors, notes and files; none
//	    for another host
//	I8  the same transfer once more, with nothing in its way, succeeds from
//	    what the first one left, and leaves the file alone
//
// # Reading a failure
//
// The name of the subtest says which scenario failed, how many attempts the
// Retry middleware had, and at which operation:
//
//	TestSweep/http/2,_part/of_4_attempts,_net/broken_at_24_of_27
//	TestSweep/resumable/disk/ENOSPC_at_sync_.out.part,_24_of_36
//
// Below it stand the invariant that did not hold, the error and the time that
// the transfer took (time is that of the bubble, and runs only where all
// wait), and then what the client did to the network and to the file system,
// in order; of the network the operation that failed has its error beside it.
// Give -run the whole name to run it alone; of the operations of HTTP/2 and
// TLS the order, and so the number, may differ by one or two between runs. A
// subtest that never ends waits under a mutex, where a bubble's time stops:
// the goroutines that the time limit prints show who holds it.
//
// The other tests here are of what one failure does not show: addresses that
// lead nowhere (TestBrokenAddresses) and clocks that step (TestClock...). The
// faults that need a process, a kernel or a disk are tests of cmd/fetch, in
// its files fault_*_test.go.
package torture
