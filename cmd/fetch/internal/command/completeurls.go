package command

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/spf13/cobra"
)

const (
	listTime       = "2"             // limit of a listing, in seconds
	cacheAge       = 5 * time.Minute // time for which a listing is used again
	maxCached      = 100             // files of the cache
	maxCompletions = 500
	maxHostFile    = 1 << 20 // bytes of a file with host names
)

// completeURL completes a URL: its scheme, a host that the user has configured,
// or the entries of a directory of ftp, sftp and file URLs. With --archive, it
// completes the entries that the archives contain.
func (r *Tree) completeURL(cmd *cobra.Command, _ []string, typed string) (all []string, _ cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	if !strings.Contains(typed, ":") {
		return completeScheme(typed)
	}
	name, rest, ok := strings.Cut(typed, "://")
	if !ok || strings.ContainsAny(typed, " ?#") || tty.Escape(typed) != typed {
		return nil, none
	}
	if !strings.Contains(rest, "/") {
		return completeHost(name, rest), none | cobra.ShellCompDirectiveNoSpace
	}
	traits := console.SchemeByName()(name).Traits
	var archives []string
	if f := cmd.Flags().Lookup("archive"); f != nil && f.Changed {
		archives, _ = cmd.Flags().GetStringArray("archive")
	}
	if !traits.Files && !traits.ControlConn && len(archives) == 0 || r.List == nil {
		return nil, none
	}
	dir := typed[:strings.LastIndexByte(typed, '/')+1]
	for _, entry := range r.entries(dir, archives, traits.Files) {
		if url := dir + entry; strings.HasPrefix(url, typed) && len(all) < maxCompletions {
			all = append(all, url)
		}
	}
	return all, none | cobra.ShellCompDirectiveNoSpace
}

// entries returns the last segments of the URLs in a directory. Names of
// directories end in a slash. A listing of a server is cached.
func (r *Tree) entries(dir string, archives []string, local bool) (names []string) {
	cache := ""
	if base, err := os.UserCacheDir(); err == nil && !local {
		sum := sha256.Sum256([]byte(strings.Join(append(archives, dir), "\x00")))
		cache = filepath.Join(base, "fetch", "completions", hex.EncodeToString(sum[:16]))
		if names, ok := readCache(cache); ok {
			return names
		}
	}
	args := []string{"ls", "--urls", "-s", "--retry", "0", "--connect-timeout", listTime, "-m", listTime}
	for _, a := range archives {
		args = append(args, "--archive", a)
	}
	for line := range strings.Lines(r.List(append(args, "-g", dir))) {
		line = strings.TrimSpace(line)
		slash := strings.HasSuffix(line, "/")
		name := strings.TrimSuffix(line, "/")
		name = name[strings.LastIndexByte(name, '/')+1:]
		if name == "" || tty.Escape(name) != name || strings.ContainsAny(name, " ?#") {
			continue
		}
		if slash {
			name += "/"
		}
		names = append(names, name)
	}
	if cache != "" && len(names) > 0 {
		writeCache(cache, dir, names)
	}
	return names
}

// readCache returns the names in a file of the cache. The result ok is false if
// the file is missing or too old.
func readCache(file string) (names []string, ok bool) {
	info, err := os.Stat(file)
	if err != nil || time.Since(info.ModTime()) > cacheAge {
		return nil, false
	}
	lines := readLines(file)
	if len(lines) < 2 {
		return nil, false
	}
	return lines[1:], true
}

// writeCache writes a directory and its names to a file of the cache. It removes
// the oldest files. Errors are ignored, because the cache only saves time.
func writeCache(file, dir string, names []string) {
	folder := filepath.Dir(file)
	if os.MkdirAll(folder, 0o700) != nil {
		return
	}
	text := strings.Join(append([]string{dir}, names...), "\n") + "\n"
	if temporary, err := os.CreateTemp(folder, "new"); err == nil {
		_, err := temporary.WriteString(text)
		temporary.Close()
		if err != nil || os.Rename(temporary.Name(), file) != nil {
			os.Remove(temporary.Name())
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) <= maxCached {
		return
	}
	age := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range entries[:len(entries)-maxCached] {
		os.Remove(filepath.Join(folder, e.Name()))
	}
}

// readLines returns the lines of a file of at most maxHostFile bytes. It returns
// none if the file cannot be read.
func readLines(name string) (lines []string) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	scanner := bufio.NewScanner(io.LimitReader(f, maxHostFile))
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	return lines
}

// completeHost returns the URLs of the hosts that start with typed: those in
// .netrc, in known_hosts for SSH, and in the cache of completions. Other commands
// keep no history of hosts.
func completeHost(scheme, typed string) (all []string) {
	home, _ := os.UserHomeDir()
	var hosts []string
	user, host, hasUser := strings.Cut(typed, "@")
	if !hasUser {
		user, host = "", typed
	} else {
		user += "@"
	}
	for _, line := range readLines(filepath.Join(home, ".netrc")) {
		words := strings.Fields(line)
		for i, w := range words[:max(len(words)-1, 0)] {
			if w == "machine" {
				hosts = append(hosts, words[i+1])
			}
		}
	}
	if console.SchemeByName()(scheme).Traits.UserKeys {
		for _, line := range readLines(filepath.Join(home, ".ssh", "known_hosts")) {
			names, _, _ := strings.Cut(line, " ")
			hosts = append(hosts, strings.Split(names, ",")...)
		}
	}
	if base, err := os.UserCacheDir(); err == nil {
		files, _ := filepath.Glob(filepath.Join(base, "fetch", "completions", "*"))
		for _, file := range files[:min(len(files), maxCached)] {
			if lines := readLines(file); len(lines) > 0 {
				if rest, ok := strings.CutPrefix(lines[0], scheme+"://"); ok {
					name, _, _ := strings.Cut(rest, "/")
					hosts = append(hosts, name[strings.LastIndexByte(name, '@')+1:])
				}
			}
		}
	}
	for _, h := range hosts {
		url := scheme + "://" + user + h + "/"
		if isHostName(h) && strings.HasPrefix(h, host) && !slices.Contains(all, url) && len(all) < maxCompletions {
			all = append(all, url)
		}
	}
	return all
}

// isHostName reports whether a word of a file is a plain name or address with an
// optional port. Hashed names of known_hosts are not.
func isHostName(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") == ""
}
