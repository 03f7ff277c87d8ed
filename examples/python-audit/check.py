"""Checks an exported a2achan log on Python's standard library, written from spec/WITNESS-LOG.md (clauses in brackets).

It decides nothing again: whether each verdict is what the rules make of it is for `a2achan verify`.
"""

import argparse
import json
import re
import sys
from hashlib import sha256

sys.dont_write_bytecode = True
from tlog import Tree, open_checkpoint  # noqa: E402


def differs(index, meaning):
    """Ends at the first thing that is not as it must be, named by the index of its entry [22]."""
    print(f"entry {index}: {meaning}", file=sys.stderr)
    raise SystemExit(7)


def canonical(value):
    """Its RFC 8785 form; of numbers a log has integers only, and its names are ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def commitments(value):
    """The texts of an entry by their fields, each as {bytes, commitment} [4]."""
    found = {}
    for name, member in value.items():
        if isinstance(member, dict):
            found.update({name: member} if "commitment" in member else commitments(member))
    return found


class Audit:
    def __init__(self, notes, key):
        self.notes, self.key, self.heads = notes, key, []
        self.tree, self.at, self.workers = Tree(), 0, {}
        self.texts, self.absent = {}, {}  # by commitment: the text or None; by entry and field: the commitment
        self.vouched = self.matching = self.redacted = self.digests = self.unknown = 0

    def take(self, line, *texts):
        """The next entry, with the lines of its texts [20]."""
        try:
            entry = json.loads(line)
            self.look(entry, line)
            held = commitments(entry)
            self.hold_texts(entry, held, [json.loads(text)["text"] for text in texts])
            if entry["kind"] == "redacted":
                self.redact(entry["entry"], entry["field"], entry["committed"])
            if entry["kind"] == "status":
                self.compute_digest(entry, held)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            differs(self.tree.size, f"it is not what a broker writes: {error!r:.120}")
        self.tree.append(line)
        self.compare_roots()

    def look(self, entry, line):
        index = self.tree.size
        if entry["index"] != index:  # [2]
            differs(index, f"it calls itself entry {entry['index']!r}")
        if canonical(entry) != line:  # [1]
            differs(index, "it is not in its RFC 8785 form")
        if entry["at"] < self.at:  # [2]
            differs(index, "its time is before that of the entry before it")
        self.at = entry["at"]
        if index == 0:
            self.open(entry["log_key"])
        worker, count = entry.get("worker_id"), entry.get("worker_entry")
        before = self.workers.get(worker, 0)
        if count != before + 1 and (count is not None or before > 0):  # [2]
            differs(index, f"it is entry {count!r} of worker {worker!r}, which has {before} before it")
        if count is not None:
            self.workers[worker] = count

    def open(self, log_key):
        """Whose log it is, and what is signed of it [16, 17]."""
        if self.key not in (None, log_key):
            differs(0, f"its log_key is {log_key!r}, not the key that was given")
        try:
            self.heads = sorted(open_checkpoint(name, note, log_key) for name, note in self.notes)
        except ValueError as error:
            differs(0, str(error))
        self.key = log_key

    def hold_texts(self, entry, held, texts):
        index = self.tree.size
        for text in texts:  # [4, 5]
            field, salt, utf8 = text["field"], bytes.fromhex(text["salt"]), text["utf8"].encode()
            commitment = sha256(b"a2achan/commit/v1\0%b\0%b%b" % (field.encode(), salt, utf8)).hexdigest()
            if text["index"] != index or held.get(field) != {"bytes": len(utf8), "commitment": commitment}:
                differs(index, f"its {field} is not the text that it commits to")
            self.texts[commitment] = text["utf8"]
            self.matching += 1
        for field, text in held.items():
            if text["commitment"] not in self.texts:
                self.texts[text["commitment"]] = None
                if entry["kind"] != "refused" or text["bytes"] <= 1024:  # [7]
                    self.absent[index, field] = text["commitment"]

    def redact(self, entry, field, committed):  # [6]
        if (entry, field) in self.absent:
            if self.absent.pop((entry, field)) != committed:
                differs(self.tree.size, f"it redacts another text than the {field} of entry {entry}")
            self.redacted += 1

    def compute_digest(self, entry, held):
        if any(self.texts[text["commitment"]] is None for text in held.values()):
            self.unknown += 1  # [23]
            return
        row = json.loads(json.dumps(entry["row"]), object_hook=lambda part: self.texts.get(part.get("commitment"), part))
        if entry["status_digest"] != f"sha256:{sha256(canonical(row)).hexdigest()}":
            differs(self.tree.size, "its status_digest is not that of its row")
        self.digests += 1

    def compare_roots(self):
        """Holds the tree to the checkpoints of its size [15, 22]."""
        while self.heads and self.heads[0][0] == self.tree.size:
            _, root, name = self.heads.pop(0)
            if root != self.tree.root():
                differs(self.vouched, f"from there to entry {self.tree.size - 1} something is not what {name} signs")
            self.vouched = self.tree.size

    def end(self):
        if self.heads:
            differs(self.tree.size, f"the log ends here, but {self.heads[0][2]} signs {self.heads[0][0]} entries")
        if self.vouched < max(self.tree.size, 1):
            differs(self.vouched, "no checkpoint reaches it")
        if self.absent and self.matching:  # [22]
            index, field = min(self.absent)
            differs(index, f"its {field} is withheld: the text is not there, and no entry redacts it")


parser = argparse.ArgumentParser(description="check an exported a2achan log")
parser.add_argument("log", type=argparse.FileType("rb"), help="what `a2achan export` wrote")
parser.add_argument("checkpoint", type=argparse.FileType("rb"), nargs="+", help="its signed one, and older ones")
parser.add_argument("--vkey", help="the log's key, from somewhere else than the log")
given = parser.parse_args()
audit = Audit([(file.name, file.read().decode(errors="replace")) for file in given.checkpoint], given.vkey)
*groups, _ = re.split(rb'\n(?!{"text":)', given.log.read())
for group in groups:  # an entry's line and those of its texts [20]
    audit.take(*group.split(b"\n"))
audit.end()
print(f"entries: {audit.tree.size}, each in its place; none is missing of {len(audit.workers)} workers")
signer = "the key given" if given.vkey else f"{audit.key}, which the log itself names"
print(f"checkpoints: {len(given.checkpoint)} have its root, signed with {signer}")
print(f"texts: {audit.matching} match, {audit.redacted} redacted, {len(audit.absent)} not in this export")
print(f"status digests: {audit.digests} computed again, {audit.unknown} not, since a text of the row is gone")
