"""Models that say what a test wants: tokens of a random model are spelled anew."""
import hashlib

from gguf_metadata import NORMAL, change
from harness import model, path, succeed

# Draws of almost equal chances: hardly a token comes twice, and few that spell a byte.
BASE = model("--vocab", "4096", "--seed", "3", "--ctx", "4096")
DRAW = ("-T", "50", "-p", "1", "-s", "7")
FIRST_UNUSED = 310


def prompt(message, system=None):
    """What the model's own template makes of one message."""
    text = "<|im_start|>system\n%s<|im_end|>\n" % system if system else ""
    return text + "<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n" % message


def spelled(text):
    """Bytes as GPT-2's vocabulary spells them."""
    plain = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return "".join(chr(b) if b in plain else chr(0x100 + others.index(b)) for b in text).encode()


def ids_of(text, file=BASE):
    """The ids of a text that may spell control tokens."""
    counted = succeed(file, "--ids", "-n", "4000", "--eos", "0", "-i", text, "--ignore-eos",
                      "--dump-logits", path("logits"))
    n = int(counted.err.split(b"positions: ")[1].split(b",")[0])
    return [int(i) for i in succeed(file, "--ids", "-i", text, "-n", str(n)).out.split()]


def replies(text, n, file=BASE):
    """The ids that the model says to a text, by DRAW."""
    have = ids_of(text, file)
    ids = succeed(file, "--ids", "-i", text, "-n", str(len(have) + n), "--ignore-eos", *DRAW).out.split()
    return [int(i) for i in ids[len(have):]]


def scripted(text, pieces, template=None):
    """A model whose reply to text is made of pieces, bytes or (bytes, kind) each; and the options
    that make it say them and end there."""
    ids = replies(text, len(pieces) + 1)
    assert len(set(ids)) == len(ids) and min(ids) >= FIRST_UNUSED, ids
    tokens = {}
    for key, piece in zip(ids, pieces):
        data, kind = piece if isinstance(piece, tuple) else (piece, NORMAL)
        tokens[key] = spelled(data), kind
    name = path("scripted-%s.gguf" % hashlib.sha1(repr((text, pieces, template)).encode()).hexdigest())
    return change(BASE, name, tokens, template), (*DRAW, "--eos", str(ids[-1]))
