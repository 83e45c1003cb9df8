module github.com/anyurl/fetch

go 1.26
