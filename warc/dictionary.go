package warc

import (
	"errors"
	"io"
	"strconv"
	"sync"
)

// A dictionaryCache contains the zstd dictionary of the WARC file that was read
// last. It has one entry, so that an archive of many files needs little memory.
type dictionaryCache struct {
	mu         sync.Mutex
	key        string // path and offset of the section, or "" if the cache is empty
	dictionary []byte
}

// get returns the dictionary at the start of a section, or nil if it has none.
func (c *dictionaryCache) get(where section) ([]byte, error) {
	key := where.path + ":" + strconv.FormatInt(where.offset, 10)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key == key {
		return c.dictionary, nil
	}
	in, file, err := where.open()
	if err != nil {
		return nil, err
	}
	dictionary, err := readDictionary(in)
	if err = errors.Join(err, file.Close()); err == nil {
		c.key, c.dictionary = key, dictionary
	}
	return dictionary, err
}

// dictionaryOf returns a function that reads the dictionary at the start of a
// file.
func dictionaryOf(file io.ReaderAt) func() ([]byte, error) {
	return func() ([]byte, error) { return readDictionary(io.NewSectionReader(file, 0, 1<<62)) }
}
