"""What any transparency log is made of: an RFC 6962 tree and C2SP checkpoints, signed with Ed25519 (RFC 8032).

Signatures are verified only: no secret is here, so it does no harm that some numbers take longer than others.
"""

import base64
import hashlib
import re

CHECKPOINT = re.compile(
    "(?P<text>(?P<origin>[^\n]+)\n(?P<size>0|[1-9][0-9]{0,15})\n(?P<root>[^\n]+)\n)"
    "\n(?P<signatures>(?:— [^ \n]+ [^ \n]+\n)+)"
)
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


class Tree:
    """Holds the right edge of the tree alone: one node for each bit of its size that is set."""

    def __init__(self):
        self.size, self.edge = 0, []

    def append(self, leaf):
        node, rest = hashlib.sha256(b"\0" + leaf).digest(), self.size
        while rest & 1:
            node, rest = hashlib.sha256(b"\1" + self.edge.pop() + node).digest(), rest >> 1
        self.edge.append(node)
        self.size += 1

    def root(self):
        node = self.edge[-1]
        for left in reversed(self.edge[:-1]):
            node = hashlib.sha256(b"\1" + left + node).digest()
        return base64.b64encode(node).decode()


def open_checkpoint(name, note, key):
    """Size, root in base64, and name of a checkpoint that is signed with `key`, ORIGIN+ID+BASE64. Raises ValueError."""
    origin, identity, encoded = key.split("+", 2)
    public = unbase64("the key", encoded)
    if public[:1] != b"\1" or hashlib.sha256(origin.encode() + b"\n" + public).hexdigest()[:8] != identity:
        raise ValueError(f"{key} is no Ed25519 key")
    found = CHECKPOINT.fullmatch(note)
    if found is None or found["origin"] != origin:
        raise ValueError(f"{name} is no checkpoint of {origin}")
    for _, signer, encoded in map(str.split, found["signatures"].splitlines()):
        signature = unbase64(f"a signature on {name}", encoded)
        if (signer, signature[:4].hex()) == (origin, identity):
            if is_signed(public[1:], found["text"].encode(), signature[4:]):
                return int(found["size"]), found["root"], name
            raise ValueError(f"the signature on {name} does not hold")
    raise ValueError(f"{name} is not signed with the log's key")


def unbase64(what, text):
    """The bytes of base64 in its one form. Raises ValueError."""
    try:
        data = base64.b64decode(text)
    except ValueError:
        data = b""
    if base64.b64encode(data).decode() != text:
        raise ValueError(f"{what} is not in base64")
    return data


def is_signed(key, message, signature):
    """Whether a signature of 64 bytes holds for a message under a key of 32 bytes (RFC 8032, 5.1.7)."""
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little")
    (x1, y1, z1, _), (x2, y2, z2, _) = times(s, BASE), add(r, times(k % ORDER, a))
    return (x1 * z2 - x2 * z1) % P == 0 and (y1 * z2 - y2 * z1) % P == 0


def point(data):
    """The point of 32 bytes, as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z; None if there is none (5.1.3)."""
    y, odd = int.from_bytes(data, "little") % 2**255, data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and odd):
        return None
    x = x if x % 2 == odd else P - x
    return x, y, 1, x * y % P


def add(p, q):
    """Adds two points (5.1.4)."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = p, q
    a, b, c, d = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2), 2 * D * t1 * t2, 2 * z1 * z2
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(scalar, p):
    total = (0, 1, 1, 0)
    while scalar:
        total, p, scalar = add(total, p) if scalar & 1 else total, add(p, p), scalar >> 1
    return total


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
