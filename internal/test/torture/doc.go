// Package torture contains only tests. They transfer a URL to a file while one
// operation fails.
//
// TestSweep runs scenarios with servers and proxies in memory, the Client, the
// Retry and Segments middleware, and package save. The first run of a scenario
// counts the operations on the network and on the file system. The next runs
// fail one operation each, in every possible way. The target test of
// the Makefile fails every seventh operation, and the target soak fails every
// operation (TestSoakSweep). The test checks these invariants after each run:
//
//	I1  The error is nil or has a class that the failure can cause.
//	I2  The file is absent, unchanged or complete. No other file remains.
//	I3  The delivered bytes are a prefix of the object, and the complete
//	    object if the error is nil.
//	I4  No connection, file or goroutine remains open.
//	I5  The transfer took at most the sum of the timeouts that applied. Each
//	    operation had a deadline.
//	I6  The client made at most as many connections and requests as one more
//	    attempt needs, and no connection after the caller canceled the
//	    context.
//	I7  Errors, notes and files contain no secrets and no control characters.
//	    No other host received a secret.
//	I8  A second transfer without a failure succeeds with the files that the
//	    first one left.
//
// # Reading a failure
//
// The name of a subtest contains the scenario, the number of attempts of the
// Retry middleware, and the operation that failed:
//
//	TestSweep/http/2,_part/of_4_attempts,_net/broken_at_24_of_27
//	TestSweep/resumable/disk/ENOSPC_at_sync_.out.part,_24_of_36
//
// The output contains the violated invariant, the error, the time of the
// transfer, and the operations of the client on the network and on the file
// system in their order. The failed network operation has its error in the
// list. Times are times of the synctest bubble, which advance only while all
// goroutines wait. To run one subtest, pass its complete name to -run. The
// number of an operation of HTTP/2 or TLS can differ by one or two between
// runs. If a subtest does not end, a goroutine waits for a mutex, which stops
// the time of the bubble. The goroutine dump of the test timeout shows the
// owner of the mutex.
//
// The other tests cover broken addresses (TestBrokenAddresses), broken proxies
// (TestBadProxies) and wrong clocks (TestClockSteps and others). Package
// cmd/fetch/internal/faulttest tests faults that need a process, a kernel or a
// disk.
package torture
