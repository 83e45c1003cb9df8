package postgres_test

import (
	"fmt"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/postgres"
)

// The workers of a crawl on several machines have the same Frontier. New does not
// connect to the server.
func ExampleNew() {
	frontier := postgres.New("postgres://worker@db.example.org/crawl?search_path=site")
	o := mirror.Options{Dir: "worker-1", Frontier: frontier}
	crawl := mirror.Open(mirror.Location{Frontier: o.Frontier}) // controls the crawl from any machine
	fmt.Println(crawl != nil)
	// Output: true
}
