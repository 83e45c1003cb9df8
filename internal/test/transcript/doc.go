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
//	login        USER:PASSWORD for each requested login, one per line
//	request      a URL and conditions, one request per line
//	talk         the conversation of one connection to Kit.Port
//	talk :PORT   the conversation of one connection to another port
//	data PORT    the conversation of a data connection to PORT
//	result       the result of each request, one per line
//	notes        the text of each Trace.Note, one per line
//
// Other text in the name of a section is a remark: "talk 2", "talk :563 again".
// The talk sections of a port serve its connections in order, and the numbers
// of connections and sections must be equal. The last data section of a port
// also serves all further connections. The server closes a data connection
// after the last line of the section. It keeps other connections open until the
// client closes them.
//
// # Conversations
//
// A conversation has one step per line:
//
//	< TEXT      the server sends TEXT and CR LF
//	<< TEXT     the server sends TEXT
//	> TEXT      the client must send TEXT and CR LF
//	= NAME      the steps of a phrase: see Kit.Phrases
//	= bytes N   the server sends N bytes: see faultnet.SendBytes
//	= drip N    the server sends N bytes "x", one per second
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
//	list         the result contains the entries of the response, not its body
//	nofollow     Request.NoFollow
//	range=A:B    Request.Range from A to before B; 5: and -5: have no end
//	if-same=V    Request.IfSame
//	if-not=V     Request.IfNot
//	since=T      Request.Since in the format of RFC 3339
//	before=T     Request.Before in the format of RFC 3339
//	token=T      Request.Auth has the token T and the user "bob"
//
// # Results
//
// A result contains the kind of the response, its media type, its quoted body,
// and further facts: offset, size, validator, time, URL (if it differs from the
// requested one), location, header fields (for Stat) and "unchanged". Unknown
// facts are omitted. A body over 1000 bytes is replaced by its length and
// digest. With the condition list, the body is replaced by the entries as JSON.
// An error that occurred while the body was read is at the end.
//
// An error has the form "error FAULT CODE: CAUSE (OPTION)", without the parts
// that are unknown. A transcript may omit ": CAUSE (OPTION)".
//
// # Recordings
//
// A recording is a hex dump of the bytes that a real server and its client
// sent. See [ReadRecording].
package transcript
