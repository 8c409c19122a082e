#!/usr/bin/env python3
"""Writes a GGUF file without tensors that holds the tokenizer of a tokenizer.json(.xz).

  tokenizer_gguf.py TOKENIZER OUT.gguf [PRE]

For the golden tests: the keys are those that converters of models write. PRE is the pre-tokenizer's
name where it is not found out. SentencePiece's scores are
not in a tokenizer.json; the place in the list of merges stands for them, as it was made from them.
"""
import json
import lzma
import struct
import sys

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9

# The pre-tokenizer's name by a part of the regular expression that only it has.
PRES = [
    ("[^\\s\\p{L}\\p{M}\\p{N}]", "qwen35"),
    ("[一-龥", "deepseek-v3"),
    ("(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}", "gpt-4o"),
    ("\\p{Lu}", "tekken"),
    ("\\p{N}{1,3}", "llama-bpe"),
    ("\\p{L}+|\\p{N}|", "qwen2"),
]


def pre_name(pre):
    text = json.dumps(pre, ensure_ascii=False)
    if '"Digits"' in text:
        return "smollm"
    for part, name in PRES:
        if json.dumps(part, ensure_ascii=False)[1:-1] in text:
            return name
    return "gpt-2"


def string(s):
    b = s if isinstance(s, bytes) else s.encode("utf-8")
    return struct.pack("<Q", len(b)) + b


def key(name, kind, data):
    return string(name) + struct.pack("<I", kind) + data


def array(name, kind, n, data):
    return key("tokenizer.ggml." + name, ARRAY, struct.pack("<IQ", kind, n) + data)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    opener = lzma.open if sys.argv[1].endswith(".xz") else open
    with opener(sys.argv[1], "rt", encoding="utf-8") as f:
        t = json.load(f)
    model, vocab = t["model"], t["model"]["vocab"]
    added = {a["id"]: a for a in t["added_tokens"]}
    n = max(max(vocab.values()), max(added)) + 1
    tokens = ["[PAD%d]" % i for i in range(n)]
    kinds = [UNUSED] * n
    spm = model["byte_fallback"]
    for text, i in vocab.items():
        tokens[i], kinds[i] = text, NORMAL
        if spm and len(text) == 6 and text.startswith("<0x"):
            kinds[i] = BYTE
    for i, a in added.items():
        tokens[i], kinds[i] = a["content"], CONTROL if a["special"] else USER
    merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"]]
    first = {}  # the special token that the post-processor puts first
    for item in (t["post_processor"] or {}).get("single", []):
        first = item.get("SpecialToken", {})
        break
    for p in (t["post_processor"] or {}).get("processors", []):
        for item in p.get("single", [])[:1]:
            first = item.get("SpecialToken", {})

    kv = [key("tokenizer.ggml.model", STRING, string("llama" if spm else "gpt2"))]
    kv.append(array("tokens", STRING, n, b"".join(string(x) for x in tokens)))
    if spm:
        kinds[vocab[model["unk_token"]]] = UNKNOWN
        scores = [0.0] * n
        for rank, (a, b) in reversed(list(enumerate(merges))):
            scores[vocab[a + b]] = -float(rank)
        kv.append(array("scores", F32, n, struct.pack("<%df" % n, *scores)))
        kv.append(key("tokenizer.ggml.unknown_token_id", U32,
                      struct.pack("<I", vocab[model["unk_token"]])))
        text = json.dumps([t["normalizer"], t["pre_tokenizer"]])
        prefix = "each" if '"Prepend"' in text else "first" if '"first"' in text else "none"
        kv.append(key("tokenizer.ggml.add_space_prefix", BOOL, bytes([prefix != "none"])))
        kv.append(key("krafla.tokenizer.prefix", STRING, string(prefix)))
    else:
        pre = sys.argv[3] if sys.argv[3:] else pre_name(t["pre_tokenizer"])
        kv.append(key("tokenizer.ggml.pre", STRING, string(pre)))
        kv.append(array("merges", STRING, len(merges), b"".join(string(a + " " + b) for a, b in merges)))
    kv.append(array("token_type", I32, n, struct.pack("<%di" % n, *kinds)))
    kv.append(key("tokenizer.ggml.add_bos_token", BOOL, bytes([bool(first)])))
    if first:
        kv.append(key("tokenizer.ggml.bos_token_id", U32, struct.pack("<I", tokens.index(first["id"]))))
    with open(sys.argv[2], "wb") as f:
        f.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(kv)) + b"".join(kv))


main()
