#!/usr/bin/env python3
"""One model, prompt and options: the same logits on every backend, for any number of threads and
any size of batches."""
import os

from harness import main, model, path, run, statistic, succeed, usable_isas

TYPES = ["Q4_0", "Q4_1", "Q8_0", "F16", "BF16", "F32"]
# more than one batch of 128, and ids of the whole vocabulary
PROMPT = ",".join(str(i * 37 % 320) for i in range(150))
WAYS = [("1", "1"), ("2", "7"), ("5", "128")]


def dump(file, isa, threads, batch, *options):
    name = path("logits")
    result = succeed(file, "--tokens", PROMPT, "--dump-logits", name, "--isa", isa, "-t", threads,
                     "--batch", batch, *options)
    assert statistic(result, "isa") == isa, result
    with open(name, "rb") as logits:
        return logits.read()


def compare(file, *options):
    reference = dump(file, "scalar", "1", "128", *options)
    assert len(reference) == 150 * 320 * 4, len(reference)
    assert len(set(reference[i:i + 4] for i in range(0, 1280, 4))) > 100, "logits hardly differ"
    for isa in usable_isas():
        for threads, batch in WAYS:
            assert dump(file, isa, threads, batch, *options) == reference, (isa, threads, batch)
    return reference


def test_weight_types():
    seen = {compare(model("--type", weights, "--seed", "3")) for weights in TYPES}
    assert len(seen) == len(TYPES), "two weight types gave the same logits"


def test_kv_types():
    file = model("--type", "Q8_0", "--seed", "4")
    seen = {compare(file, "--kv", kv) for kv in ("f32", "f16", "q8")}
    assert len(seen) == 3, "two types of the KV cache gave the same logits"


def test_odd_shapes():
    """Widths that fill neither blocks nor row groups; tied output, biases, rope factors."""
    compare(model("--type", "F16", "--dim", "72", "--heads", "6", "--kv-heads", "3", "--ff", "100",
                  "--tied", "--bias", "--rope-factors", "--seed", "5"))
    compare(model("--type", "Q8_0", "--dim", "96", "--heads", "4", "--kv-heads", "2", "--head-dim",
                  "24", "--ff", "160", "--tied", "--bias", "--seed", "5"))


def test_decoding():
    """Generated positions: their logits too, told by the fingerprint, and the tokens."""
    file = model("--type", "Q4_0", "--seed", "6")
    seen = set()
    for isa in usable_isas():
        for threads, batch in WAYS:
            result = succeed(file, "--tokens", "5,6,7,8,9", "-n", "300", "--ignore-eos", "--ids",
                             "--fingerprint", "--isa", isa, "-t", threads, "--batch", batch)
            seen.add((result.out, statistic(result, "fingerprint")))
    assert len(seen) == 1, seen
    assert len(seen.pop()[0].split()) == 300


def test_prompt_equals_decoding():
    """Tokens computed one by one have the logits that they have as a prompt."""
    file = model("--type", "Q4_1", "--seed", "7")
    reply = succeed(file, "--tokens", "5,6,7,8,9", "-n", "60", "--ignore-eos", "--ids",
                    "--fingerprint")
    ids = reply.out.split()
    # the last token is printed but not computed
    prompt = b",".join(ids[:-1]).decode()
    whole = succeed(file, "--tokens", prompt, "-n", "59", "--fingerprint")
    assert statistic(whole, "fingerprint") == statistic(reply, "fingerprint")


def test_context_size_does_not_matter():
    file = model("--type", "Q8_0", "--seed", "8")
    seen = {dump(file, "scalar", "1", "128", "--ctx", n) for n in ("150", "151", "512")}
    assert len(seen) == 1


def test_another_seed_is_another_model():
    one, other = (dump(model("--type", "Q8_0", "--seed", seed), "scalar", "1", "128")
                  for seed in ("9", "10"))
    assert one != other


def test_dump_is_whole_or_not_there():
    file = model("--type", "Q8_0", "--seed", "3")
    name = path("kept")
    with open(name, "w") as kept:
        kept.write("old")
    result = run(file, "--tokens", "1,2,99999", "--dump-logits", name)
    assert result.code == 2, result
    with open(name) as kept:
        assert kept.read() == "old"
    succeed(file, "--tokens", "1,2", "--dump-logits", name)
    assert os.path.getsize(name) == 2 * 320 * 4
    assert not [other for other in os.listdir(os.path.dirname(name)) if other.startswith("kept.")]


main(globals())
