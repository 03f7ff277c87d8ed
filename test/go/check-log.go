// Checks a log that lies in a directory with the Go project's own libraries, which share no code with this project:
//
//	go run check-log.go DIR
//
// DIR holds vkey, checkpoint, tile/... as C2SP tlog-tiles has them, and proofs.json: what the broker answered to prove.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type proofs struct {
	// Under the checkpoint of the directory.
	Inclusion []struct {
		Index  int64    `json:"index"`
		Hashes []string `json:"hashes"`
	} `json:"inclusion"`
	// From older checkpoints to the one of the directory.
	Consistency []struct {
		Checkpoint string   `json:"checkpoint"`
		Hashes     []string `json:"hashes"`
	} `json:"consistency"`
}

func main() {
	dir := os.Args[1]
	verifier := must(note.NewVerifier(strings.TrimSpace(string(read(dir, "vkey")))))
	tree := open(string(read(dir, "checkpoint")), verifier)
	entries := readEntries(dir, tree.N)

	// The tiles, by the reader that Go's own client trusts tiles with: it checks each against the tree's root.
	reader := tlog.TileHashReader(tree, tiles{dir})
	for index, entry := range entries {
		proof := must(tlog.ProveRecord(tree.N, int64(index), reader))
		check(tlog.CheckRecord(proof, tree.N, tree.Hash, int64(index), tlog.RecordHash(entry)))
	}

	var told proofs
	check(json.Unmarshal(read(dir, "proofs.json"), &told))
	for _, p := range told.Inclusion {
		leaf := tlog.RecordHash(entries[p.Index])
		check(tlog.CheckRecord(hashes(p.Hashes), tree.N, tree.Hash, p.Index, leaf))
		if tlog.CheckRecord(hashes(p.Hashes), tree.N, tree.Hash, p.Index, tlog.RecordHash([]byte("another"))) == nil {
			fail("a proof holds for another entry")
		}
	}
	for _, p := range told.Consistency {
		older := open(p.Checkpoint, verifier)
		check(tlog.CheckTree(tlog.TreeProof(hashes(p.Hashes)), tree.N, tree.Hash, older.N, older.Hash))
	}
	fmt.Printf("%d entries, %d inclusion proofs, %d consistency proofs\n",
		len(entries), len(told.Inclusion), len(told.Consistency))
}

// open checks a signed checkpoint: origin, size and root, and nothing more.
func open(text string, verifier note.Verifier) tlog.Tree {
	opened := must(note.Open([]byte(text), note.VerifierList(verifier)))
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() || lines[3] != "" {
		fail("the checkpoint is not three lines under its origin")
	}
	return tlog.Tree{N: must(strconv.ParseInt(lines[1], 10, 64)), Hash: must(tlog.ParseHash(lines[2]))}
}

func readEntries(dir string, size int64) [][]byte {
	var entries [][]byte
	for at := int64(0); at < size; at += 256 {
		width := size - at
		if width > 256 {
			width = 256
		}
		tile := tlog.Tile{H: 8, L: -1, N: at / 256, W: int(width)}
		bundle := read(dir, strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1))
		for len(bundle) > 0 {
			end := 2 + int(binary.BigEndian.Uint16(bundle))
			entries = append(entries, bundle[2:end])
			bundle = bundle[end:]
		}
	}
	if int64(len(entries)) != size {
		fail("the bundles do not hold as many entries as the checkpoint says")
	}
	return entries
}

// tiles reads from the directory; C2SP's paths leave the height out, which is always 8.
type tiles struct{ dir string }

func (tiles) Height() int                     { return 8 }
func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, tile := range wanted {
		data = append(data, read(t.dir, strings.Replace(tile.Path(), "tile/8/", "tile/", 1)))
	}
	return data, nil
}

func hashes(encoded []string) tlog.RecordProof {
	var proof tlog.RecordProof
	for _, text := range encoded {
		var hash tlog.Hash
		if copy(hash[:], must(base64.StdEncoding.DecodeString(text))) != len(hash) {
			fail("a hash of a proof is short")
		}
		proof = append(proof, hash)
	}
	return proof
}

func read(dir, path string) []byte { return must(os.ReadFile(filepath.Join(dir, path))) }

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}
