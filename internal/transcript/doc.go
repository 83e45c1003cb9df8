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
// The comment before the first section describes the test. The sections are:
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
// Text after the port is a remark: "talk 2", "talk :563 again". The talk
// sections of a port serve its connections in order, and the numbers of
// connections and sections must be equal. The last data section of a port also
// serves all further connections. The server closes a data connection after the
// last line. It keeps the connection of a talk open until the client closes it.
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
// A TEXT in double quotes is a Go string. A count after it repeats the string:
// << "ab"*3 sends "ababab".
//
// # Conditions
//
// These words may follow the URL of a request:
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
// A result has the kind of the response, its media type, its quoted body, and
// further facts: offset, size, validator, time, URL (if it differs from the
// requested one), location, header fields (for Stat) and "unchanged". Unknown
// facts are omitted. A body over 1000 bytes is replaced by its length and
// digest. With the condition list, the body is replaced by the entries as JSON.
// An error during the body comes last.
//
// An error is "error FAULT CODE: CAUSE (OPTION)", with the parts that it has.
// A transcript may leave out ": CAUSE (OPTION)".
//
// # Recordings
//
// A recording is a hex dump of the bytes of a real server and its client. See
// [ReadRecording].
package transcript
