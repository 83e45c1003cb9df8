// Package fetch retrieves the object that a URL names, over any of the
// Internet's old and new protocols.
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
// Every request returns a [Response]. Its Kind distinguishes a
// document, a menu, a searchable index and a session. Menus can be read as
// entries ([Client.List], [Response.Entries]). [Client.Search] searches an
// index. To fetch an entry of a listing, use [Entry.Request]. To fetch a link
// in a document, use [Response.Request].
//
// # Safety
//
// Drivers reach the network only through [Net], which enforces the [Policy] on
// every connection. The zero Policy allows only public addresses and is safe
// for URLs from untrusted sources. The Policy [Typed] is for URLs that the user
// typed.
//
// # Completeness
//
// Reading a Body returns io.EOF only if the protocol proved that the body is
// complete. Every other end of a body is an error. The [Fault] of an error
// determines how the caller can react.
//
// # Writing a scheme
//
// A scheme is a [Scheme] value. Its function Plan is pure, and its function
// Open returns a [Driver]. Package fetchtest has the test suite that every
// scheme must pass.
package fetch
