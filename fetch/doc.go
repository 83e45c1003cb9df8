// Package fetch dereferences URLs: it brings back the object that a URL
// names, whichever of the Internet's old and new protocols holds it.
//
// Call [New] with the schemes you want (github.com/anyurl/fetch/schemes has
// all of them) and then [Client.Get]:
//
//	client := fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...)
//	defer client.Close()
//	resp, err := client.Get(ctx, "http://example.org/")
//	if err != nil {
//		return err
//	}
//	defer resp.Body.Close()
//	_, err = io.Copy(w, resp.Body)
//
// There is one verb, and the answer says what it is: a document, a menu, a
// searchable index, a session. A listing is a document that can also be read
// as entries ([Client.List], [Response.Entries]); a search is a URL that a scheme
// writes from words ([Client.Search]). A request for an entry is made by
// [Entry.Request], and one for a link by [Response.Request].
//
// # Safety
//
// Everything that the network can do to a program passes one door, [Net],
// which enforces the [Policy] at every connection. The zero Policy reaches
// public addresses only and is safe with URLs from strangers; [Typed] is for
// URLs that a person wrote.
//
// # Completeness
//
// A Body ends with io.EOF only where the protocol proved its end. Everything
// else is an error whose class, a [Fault], tells what can be done about it.
//
// # Writing a scheme
//
// A scheme is a [Scheme] value: a pure Plan, and an Open that makes a
// [Driver]. Package fetchtest holds the suite that every scheme must pass.
package fetch
