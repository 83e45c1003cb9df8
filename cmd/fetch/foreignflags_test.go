package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
)

// TestForeignFlags runs command lines with options of wget, aria2 and lynx. Each of
// them ends with the equivalent command line before a request is sent. The URLs
// are those of a closed port, so that a request would fail with another error.
func TestForeignFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if err := os.WriteFile("list.txt", []byte("http://127.0.0.1:1/a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("files.d", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, want string }{
		// Options with another meaning in curl
		{"-r U/", "fetch mirror --scope host --depth 5 U/"},
		{"U/ -r", "fetch mirror --scope host --depth 5 U/"},
		{"-r -l 2 U/", "fetch mirror --scope host --depth 2 U/"},
		{"-r -l0 U/", "fetch mirror --scope host --depth inf U/"},
		{"-r -np -k -p U/", "fetch mirror --depth 5 --page-requisites --browse copy U/"},
		{"-rH -D a.example,b.example U/",
			`fetch mirror --scope any --depth 5 --include '^[a-z]+://([^/]*[.])?(a\.example|b\.example)[:/]' U/`},
		{"-m U/", "fetch mirror --scope host U/"},
		{"-mnp U/", "fetch mirror U/"},
		{"-m -nH --cut-dirs=2 U/", "fetch mirror --scope host U/"},
		{"-nH U/", "fetch mirror --scope host U/"},
		{"-r -nd U/", "fetch mirror --scope host --depth 5 U/"},
		{"-c U/a", "fetch -O -C - U/a"},
		{"U/a -c", "fetch -O -C - U/a"},
		{"-nc U/a", "fetch -O --skip-existing U/a"},
		{"-c -P files.d U/a", "fetch -C - --create-dirs --output-dir files.d U/a"},
		{"-P files.d U/a", "fetch --create-dirs --output-dir files.d U/a"},
		{"-P /x/y U/a", "fetch --create-dirs --output-dir /x/y U/a"},
		{"-i list.txt", "fetch -O --input-file list.txt"},
		{"-qO- U/a", "fetch -s U/a"},
		{"-qO - U/a", "fetch -s U/a"},
		{"-O a.html U/a", "fetch -o a.html U/a"},
		{"-O a.html -c U/a", "fetch -o a.html -C - U/a"},
		{"-l 2 U/", "fetch mirror --scope host --depth 2 U/"},
		{"-A *.txt,*.html U/", "fetch mirror --scope host --accept text/plain,text/html U/"},
		{"-r -R png,jpg U/", "fetch mirror --scope host --depth 5 --exclude '[.](png|jpg)$' U/"},
		{"-r -X /a,/b U/", "fetch mirror --scope host --depth 5 --exclude '^[a-z]+://[^/]*/(a|b)/' U/"},
		{"-e robots=off -r U/", "fetch mirror --scope host --depth 5 --ignore-robots U/"},
		{"-e robots=off U/a", "fetch -O U/a"},
		{"-e robots=off U/", "fetch -o index.html U/"},
		{"-e http_proxy=127.0.0.1:2 U/a", "fetch -O -x 127.0.0.1:2 U/a"},
		{"-e tries=3 U/a", "fetch -O U/a (fetch has no equivalent of -e)"},
		{"-A pdf U/", "fetch mirror --scope host --accept application/pdf U/"},
		{"-A pdf,jpg U/", "fetch mirror --scope host --accept application/pdf,image/jpeg U/"},
		{"-D x.org U/", `fetch mirror --scope host --include '^[a-z]+://([^/]*[.])?(x\.org)[:/]' U/`},
		{"-D a.example,b.example U/", `fetch mirror --scope host --include '^[a-z]+://([^/]*[.])?(a\.example|b\.example)[:/]' U/`},
		{"-D 0.0.1 U/", `fetch mirror --scope host --include '^[a-z]+://([^/]*[.])?(0\.0\.1)[:/]' U/`},
		{"mirror -A pdf U/", "fetch mirror --scope host --accept application/pdf U/"},
		{"-U Mozilla/5.0 U/a", "fetch -O -A Mozilla/5.0 U/a"},
		{"-T 5 U/a", "fetch -O --connect-timeout 5 U/a"},
		{"-r -Q 5m U/", "fetch mirror --scope host --depth 5 --max-bytes 5m U/"},
		{"-E U/a", "fetch mirror --scope host U/a"},
		{"-K U/a", "fetch mirror --scope host U/a"},
		{"-b U/a", "fetch -O U/a (fetch has no equivalent of -b)"},

		// curl's -O after options of wget
		{"-c -O U/a", "fetch -O -C - U/a"},
		{"-c U/a -O", "fetch -O -C - U/a"},
		{"-P 3 -O U/a", "fetch --create-dirs --output-dir 3 U/a"},

		// Options of ls, find, du and diff
		{"ls -a U/", "fetch ls U/"},
		{"ls -la U/", "fetch ls -l U/"},
		{"ls -S U/", "fetch ls --sort size U/"},
		{"ls -lSh U/", "fetch ls -l --sort size -h U/"},
		{"find U/ -type d", "fetch find --type d U/"},
		{"find U/ -type l", "fetch find U/ (fetch has no equivalent of -type)"},
		{"find U/ -size +10M", "fetch find --size +10M U/"},
		{"find U/ -size -2 -name a.iso -s", "fetch find --size -1024 --name a.iso -s U/"},
		{"find U/ -maxdepth 1 -print", "fetch find --max-depth 1 U/"},
		{"find U/ -ls", "fetch find --long U/"},
		{"diff -rq U/ U/a", "fetch diff U/ U/a"},

		// Options that curl does not have
		{"-t 3 U/a", "fetch -O --tries 3 U/a"},
		{"-p -k -t 3 U/a", "fetch mirror --page --browse copy --tries 3 U/a"},
		{"--mirror U/", "fetch mirror --scope host U/"},
		{"--recursive --no-parent --level=inf U/", "fetch mirror --depth inf U/"},
		{"--convert-links --page-requisites U/", "fetch mirror --page --browse copy U/"},
		{"-t 3 --timestamping U/d/a.txt", "fetch --tries 3 -O --timestamping U/d/a.txt"},
		{"--continue U/a", "fetch -O -C - U/a"},
		{"--spider U/a", "fetch -I U/a"},
		{"--spider -r U/", "fetch mirror --scope host --depth 5 --dry-run U/"},
		{"--timeout=5 -sSL U/a", "fetch --connect-timeout 5 -s -S -L U/a"},
		{"--output-document=x U/a", "fetch -o x U/a"},
		{"--content-disposition U/a", "fetch -O -J U/a"},
		{"--user=me --password=secret U/a", "fetch -O -u USER U/a"},
		{"--accept=pdf U/", "fetch mirror --scope host --accept application/pdf U/"},
		{"--https-only --no-proxy U/", "fetch -o index.html --proto =https --noproxy '*' U/"},
		{"mirror -r -np U/", "fetch mirror --depth 5 U/"},
		{"mirror --level 3 -v U/", "fetch mirror --scope host --depth 3 U/"},
		{"ls --timeout 3 U/", "fetch ls --connect-timeout 3 U/"},

		// Secrets are not printed.
		{"--timeout=5 -u me:secret http://me:secret@127.0.0.1:1/",
			"fetch --connect-timeout 5 -u *** http://me:***@127.0.0.1:1/"},
		{"--timeout=5 -H Authorization:secret -bsession=secret U/a",
			"fetch --connect-timeout 5 -H *** -b *** U/a"},
		{"--timeout=5 --ftp-account=secret U/a", "fetch -O --connect-timeout 5 --ftp-account *** U/a"},

		// Other programs. The character ~ stands for a space in an argument.
		{"-e mirror~/pub;~quit U/", "fetch mirror U/"},
		{"-u me:secret -c open~U/;~mirror", "fetch mirror -u USER U/"},
		{"-dump U/", "fetch browse U/"},
		{"-x4 U/a", "fetch -O --segments 4 U/a"},
		{"-x 4 -d out U/a", "fetch -O --segments 4 --create-dirs --output-dir out U/a"},
	} {
		url := strings.NewReplacer("U/", "http://127.0.0.1:1/")
		args := strings.Fields(url.Replace(test.args))
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		var stdout, stderr bytes.Buffer
		code := app.Run(args, strings.NewReader(""), &stdout, &stderr)
		_, hint, _ := strings.Cut(strings.TrimSpace(stderr.String()), "; use: ")
		if want := url.Replace(test.want); hint != want || code != 2 || stdout.Len() > 0 {
			t.Errorf("fetch %s: exit code %d, output %q, errors:\n%s\nwant: %s", test.args, code, &stdout, &stderr, want)
			continue
		}
		if !strings.ContainsAny(hint, "('*") {
			checkParsed(t, strings.Fields(hint)[1:])
		}
	}
	var stderr bytes.Buffer
	if code := app.Run([]string{"-s", "--nonsense"}, strings.NewReader(""), &bytes.Buffer{}, &stderr); code != 2 || stderr.Len() == 0 {
		t.Errorf("fetch -s --nonsense: exit code %d, errors %q", code, &stderr)
	}
	if files, _ := filepath.Glob("*"); len(files) != 2 {
		t.Errorf("files were written: %q", files)
	}
}

// checkParsed checks that the command line is correct.
func checkParsed(t *testing.T, args []string) {
	t.Helper()
	tree := app.Commands(&console.Streams{})
	tree.Prepare(args)
	cmd, rest, err := tree.Main.Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		t.Errorf("%q: %v", args, err)
	}
	if err := tree.ForeignHint(cmd); err != nil {
		t.Errorf("%q: %v", args, err)
	}
}

// TestNoForeignFlags checks that flags keep curl's meaning if their values can be
// meant.
func TestNoForeignFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{
		"-r 0-99 U/", "-r 5 U/", "-r -5 U/", "-r 0-1,4-5 U/", "-m 2.5 U/", "-m 5s U/", "-m 2m U/", "-c cookies.txt U/", "-c - U/", "-b a=http://x/ U/",
		"-b cookies U/", "-nv U/", "-np U/", "-k U/", "-p U/", "-S U/", "-N U/", "-i U/", "-l U/", "-l ftp://127.0.0.1:1/1",
		"-P - U/", "-P 127.0.0.1 U/", "-P eth.example U/", "-A Mozilla U/", "-O U/ U/", "-O example.org/x U/",
		"-U me:x U/", "-H Accept:x U/", "-e http://x/ U/", "-E cert.pem U/", "-K - U/", "-w 2 U/", "-x h:4 U/",
		"--tries 3 U/", "--wait 2 U/", "--no-check-certificate U/", "--directory-prefix=x U/", "--quiet U/",
		"-o 2 U/", "-o log U/", "-D headers.txt U/", "-D h U/", "-D - U/", "-A curl/8.0 U/", "-A pdf/1.0 U/", "-e http://x/?a=b U/", "-sSfL U/", "-C - -o 3 U/", "-- -r", "--unknown U/", "ls -sS U/", "ls -ltrh U/", "du -sh U/", "du -ad1 U/", "mirror --tries 2 --quota 1M U/",
	} {
		args := strings.Fields(strings.ReplaceAll(args, "U/", "http://127.0.0.1:1/"))
		tree := app.Commands(&console.Streams{})
		tree.Prepare(args)
		cmd, _, err := tree.Main.Find(args)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.ForeignHint(cmd); err != nil {
			t.Errorf("fetch %s: %v", strings.Join(args, " "), err)
		}
	}
}

// TestLogName checks the note for wget's "-o LOG URL", which writes the body to
// LOG.
func TestLogName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a", []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]bool{
		"-o log a": true, "-o wget.log a": true, "-o out a": false, "-o x.log changelog": false,
		"-s -o log a": false, "-o - a": false, "-o catalog a": false,
	} {
		var stderr bytes.Buffer
		app.Run(append([]string{"--no-config"}, strings.Fields(args)...), strings.NewReader(""), &bytes.Buffer{}, &stderr)
		if got := strings.Contains(stderr.String(), "is the file for the body"); got != want {
			t.Errorf("fetch %s: %s", args, &stderr)
		}
	}
}

// TestDocumentedForeignFlags checks that the table of wget's options in doc has the
// command lines that the hints suggest.
func TestDocumentedForeignFlags(t *testing.T) {
	page, err := os.ReadFile("../../doc/from-curl-and-wget.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	words := strings.NewReplacer("URL/FILE", "http://127.0.0.1:1/FILE", "URL", "http://127.0.0.1:1/a", "-u NAME ", "-u USER ",
		"--browse DIR", "--browse copy", "AGENT", "Agent/1", "'", "")
	if err := errors.Join(os.Mkdir("DIR", 0o777), os.WriteFile("FILE", nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	rows, found := regexp.MustCompile("(?m)^\\| `wget ([^`]+)` \\| `(fetch [^`]+)`").FindAllStringSubmatch(string(page), -1), 0
	for _, row := range rows {
		var stderr bytes.Buffer
		args := strings.Fields(words.Replace(row[1]))
		if len(args) == 1 || row[1] == "-p URL" {
			continue // these words have curl's meaning
		}
		app.Run(append([]string{"--no-config"}, args...), strings.NewReader(""), &bytes.Buffer{}, &stderr)
		_, hint, _ := strings.Cut(strings.TrimSpace(stderr.String()), "; use: ")
		hint = strings.NewReplacer("'", "", "--no-config ", "").Replace(hint)
		if want := words.Replace(row[2]); hint != want {
			t.Errorf("wget %s: the hint is %q, and the page has %q", row[1], hint, want)
		}
		found++
	}
	if found < 15 {
		t.Errorf("%d rows", found)
	}
}
