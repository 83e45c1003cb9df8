// Package transcript replays conversations with servers. Only tests may import
// it.
//
// # Transcripts
//
// A transcript is a file testdata/NAME.txtar. [Kit.Run] serves its
// conversations in memory, sends its requests one after another through one
// Client, and compares each result, the notes and every byte that the Client
// sent. Time is fake and begins at midnight of 2000-01-01. The server is at
// 192.0.2.1.
//
// A comment before the first section says what the transcript shows. The
// sections are:
//
//	options      options of the scheme, as JSON
//	policy       changes to fetch.Typed(), as JSON
//	login        USER:PASSWORD for each login that is requested, one a line
//	request      a URL and conditions, one request a line
//	talk         the conversation of one connection to the port of Kit
//	talk :PORT   the same at another port
//	data PORT    the conversation of any connection to PORT
//	result       the result of each request, one a line
//	notes        the text of each Trace.Note, one a line
//
// Text behind the port is a remark: "talk 2", "talk :563 again". The talks of a
// port are for its connections in order, and there must be as many connections
// as talks. The last data section of a port is for all further connections too.
// The server closes a data connection after the last line. It keeps the
// connection of a talk until the client closes it.
//
// # Conversations
//
// A conversation has one step a line:
//
//	< TEXT      the server sends TEXT and CR LF
//	<< TEXT     the server sends TEXT
//	> TEXT      the client must send TEXT and CR LF
//	= NAME      the steps of a phrase: see Kit.Phrases
//	= bytes N   the server sends N bytes: see faultnet.SendBytes
//	= drip N    the server sends N bytes "x", one a second
//	= delay D   the server waits: 10s, 1m
//	= tls       TLS begins. "tls wrong", "tls expired" and "tls self-signed"
//	            use a certificate that the client must reject; "tls stall" and
//	            "tls cut" stop in the handshake
//	= deflate   both sides are compressed from here on, by raw DEFLATE
//	= fin       the server closes the connection
//	= reset     the server resets the connection
//	= stall     the server is silent until the test ends
//	= refuse    as the only line: the connection is refused
//	= blackhole as the only line: the connection attempt is never answered
//
// A TEXT in double quotes is a string of Go. A count behind it repeats it:
// << "ab"*3 sends "ababab".
//
// # Conditions
//
// Behind its URL a request has any of these words:
//
//	stat         Request.Op is Stat
//	list         the result has the entries of the response, not its body
//	nofollow     Request.NoFollow
//	range=A:B    Request.Range from A to before B; 5: and -5: have no end
//	if-same=V    Request.IfSame
//	if-not=V     Request.IfNot
//	since=T      Request.Since, as RFC 3339 has it
//	before=T     Request.Before, as RFC 3339 has it
//	token=T      Request.Auth has the token T and the user "bob"
//
// # Results
//
// A result is the kind of the response, its media type, its body in quotes,
// and its other facts where they are known: offset, size, validator, time, URL
// if it differs from that of the request, location, head fields (of Stat),
// "unchanged". A body over 1000 bytes is shown by length and digest. With the
// condition list the body is replaced by the entries, as JSON. An error while
// the body is read comes last.
//
// An error is "error FAULT CODE: CAUSE (OPTION)", with the parts that it has.
// A transcript may leave out ": CAUSE (OPTION)".
//
// # Recordings
//
// A recording is a hex dump of what a real server and its client sent:
// [ReadRecording].
package transcript
