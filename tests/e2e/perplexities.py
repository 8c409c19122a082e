#!/usr/bin/env python3
"""krafla-perplexity against the same sums made from dumped logits."""
import array
import json
import math
import re

from harness import call, encode, main, model, path, program, succeed

MODEL = model("--seed", "1", "--ctx", "1024")
TEXT = path("text")
N = 64
with open(TEXT, "wb") as text_file:
    text_file.write(b"".join(b"%d little bytes, all in a row.\n" % i for i in range(20)))


def reference(chunks, first):
    """Running perplexities by binary64 from krafla-run's logits."""
    with open(TEXT, "rb") as file:
        ids = encode(MODEL, file.read())
    nll, count, running = 0.0, 0, []
    for c in range(chunks):
        chunk = ids[c * N:(c + 1) * N]
        succeed(MODEL, "--tokens", ",".join(chunk), "--dump-logits", path("chunk.f32"))
        logits = array.array("f")
        with open(path("chunk.f32"), "rb") as file:
            logits.frombytes(file.read())
        n_vocab = len(logits) // N
        for i in range(first, N - 1):
            row = logits[i * n_vocab:(i + 1) * n_vocab]
            top = max(row)
            total = math.fsum(math.exp(x - top) for x in row)
            nll += math.log(total) - (row[int(chunk[i + 1])] - top)
            count += 1
        running.append(math.exp(nll / count))
    return running, count


def check(chunks, first, scoring, *options):
    expected, count = reference(chunks, first)
    command = [program("perplexity"), MODEL, TEXT, "--ctx", str(N), "--chunks", str(chunks), *options]
    told = json.loads(call(command + ["--json"]).out)
    assert told["tokens"] == count and told["scoring"] == scoring, told
    for mine, theirs in zip(told["running"], expected):
        assert abs(mine / theirs - 1) < 1e-6, (told, expected)
    assert len(told["running"]) == chunks and told["running"][-1] == told["perplexity"]
    text = call(command).out.decode()
    assert [float(x) for x in re.findall(r"\[\d+\]([\d.]+),", text)] == \
        [round(x, 4) for x in told["running"]], text
    assert re.search(r"^perplexity: [\d.]+ \+/- [\d.]+ over %d tokens$" % count, text, re.M), text


def test_all_positions():
    check(3, 0, "all")


def test_as_llama_cpp():
    check(3, N // 2, "llama-cpp", "--llama-cpp")


def test_batches_do_not_matter():
    results = {call([program("perplexity"), MODEL, TEXT, "--ctx", str(N), "--batch", batch]).out
               for batch in ("1", "7", "128")}
    assert len(results) == 1, results


def test_errors():
    for code, options in [(2, [MODEL]), (2, [MODEL, TEXT, "--chunks", "0"]), (1, [MODEL, "/nowhere"]),
                          (1, [MODEL, "/dev/null"]), (2, [MODEL, TEXT, "--ctx", "1025"]),
                          (2, [MODEL, TEXT, "--ctx", "2"]), (1, [TEXT, TEXT])]:
        result = call([program("perplexity"), *options])
        assert result.code == code and result.err.startswith(b"error: "), result


main(globals())
