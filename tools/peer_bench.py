#!/usr/bin/env python3
"""One peer, measured as krafla-bench measures Krafla; compare-peers starts it with the python of
the virtual environment that holds the peer.

  peer_bench.py llama|ik MODEL -p 128,512 --depth 128 -n 64 -t 1   prints one JSON object
  peer_bench.py quantize MODEL OUTPUT q4_0|q8_0                    writes another type of a model

The C API of the library is driven directly: no time goes to the wrapper's own class, to sampling or
to text. Each test runs once to warm up and once timed. The KV cache is f16, batches are of 512
tokens, and everything else is as the library has it by default: flash attention, repacking of
weights at load, memory mapping. Tokens are krafla-bench's. As there, first_token is the time from
before the library is loaded to the logits of one token, without the start of python and of the
wrapper, and peak_memory what the process then held at most, less what python held before."""
import argparse
import ctypes
import heapq
import importlib.util
import json
import os
import sys
import time

BATCH = 512
LLAMA = ("llama_cpp", "llama_cpp.llama_cpp")
F16 = 1  # ggml's number of the type
FILE_TYPES = {"q4_0": 2, "q8_0": 7}  # llama.cpp's numbers of kinds of files


def tokens(n, n_vocab):
    """As make_tokens of frontends/bench/bench_measure.c."""
    x, out = 1, []
    for _ in range(n):
        x = (x * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        out.append((x >> 33) % n_vocab)
    return out


def peak_memory():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


def open_library(package, module):
    """The functions and structs of the package's wrapper, and the seconds that its library took to
    load; the wrapper then finds it loaded."""
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    before = time.perf_counter()
    ctypes.CDLL(os.path.join(folder, "lib", "libllama.so"))
    seconds = time.perf_counter() - before
    api = importlib.import_module(module)
    callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
    api.quiet = callback(lambda level, text, data: None)  # kept: the library calls it
    api._lib.llama_log_set.argtypes = [callback, ctypes.c_void_p]
    api._lib.llama_log_set.restype = None
    api._lib.llama_log_set(api.quiet, None)
    return api, seconds


class Peer:
    def __init__(self, name, model, n_ctx, threads):
        self.is_ik = name == "ik"
        package = ("ik_llama_cpp", "ik_llama_cpp._ctypes_api") if self.is_ik else LLAMA
        api, self.open = open_library(*package)
        self.api, self.held = api, peak_memory()
        before = time.perf_counter()
        api.llama_backend_init()
        options = api.llama_model_default_params()
        options.n_gpu_layers = 0
        if self.is_ik:  # its wrapper's struct has them off
            options.repack_tensors = True
            options.max_ctx_size = n_ctx
        self.model = api.llama_model_load_from_file(model.encode(), options)
        if not self.model:
            sys.exit("error: %s: cannot be loaded" % model)
        options = api.llama_context_default_params()
        options.n_ctx, options.n_batch, options.n_ubatch, options.n_seq_max = n_ctx, BATCH, BATCH, 1
        options.n_threads = options.n_threads_batch = threads
        options.type_k = options.type_v = F16
        self.context = api.llama_init_from_model(self.model, options)
        if not self.context:
            sys.exit("error: %s: no context of %d positions" % (model, n_ctx))
        self.load = time.perf_counter() - before
        self.n_vocab = api.llama_vocab_n_tokens(api.llama_model_get_vocab(self.model))
        self.batch = api.llama_batch_init(BATCH, 0, 1)
        self.logits = api._lib.llama_get_logits_ith
        self.logits.argtypes = [ctypes.c_void_p, ctypes.c_int32]
        self.logits.restype = ctypes.POINTER(ctypes.c_float)
        self.remove = self.find_remove()
        self.position = 0

    def find_remove(self):
        """The function that forgets positions from one on; ik's wrapper leaves it out."""
        if not self.is_ik:
            memory = self.api.llama_get_memory(self.context)
            return lambda first: self.api.llama_memory_seq_rm(memory, 0, first, -1)
        function = self.api._lib.llama_kv_cache_seq_rm
        function.argtypes = [ctypes.c_void_p] + 3 * [ctypes.c_int32]
        function.restype = ctypes.c_bool
        return lambda first: function(self.context, 0, first, -1)

    def truncate(self, length):
        if not self.remove(length):
            sys.exit("error: positions from %d on could not be removed" % length)
        self.position = length

    def append(self, ids):
        """Computes ids, and the logits of the last one."""
        batch = self.batch
        for first in range(0, len(ids), BATCH):
            part = ids[first:first + BATCH]
            for i, token in enumerate(part):
                batch.token[i] = token
                batch.pos[i] = self.position + i
                batch.n_seq_id[i] = 1
                batch.seq_id[i][0] = 0
                batch.logits[i] = first + i == len(ids) - 1
            batch.n_tokens = len(part)
            status = self.api.llama_decode(self.context, batch)
            if status:
                sys.exit("error: llama_decode: %d" % status)
            self.position += len(part)
        return self.logits(self.context, -1)

    def best_tokens(self):
        """The three most likely next ones."""
        values = self.logits(self.context, -1)[:self.n_vocab]
        return heapq.nlargest(3, range(self.n_vocab), key=values.__getitem__)


def measure(peer, ids, test, n, depth):
    peer.truncate(0)
    if depth:
        peer.append(ids[:depth])
    part = ids[depth:depth + n]
    for _ in range(2):  # the first one warms up
        peer.truncate(depth)
        before = time.perf_counter()
        if test == "prompt":
            peer.append(part)
        else:
            for token in part:
                peer.append([token])
        seconds = time.perf_counter() - before
    return {"test": test, "tokens": n, "depth": depth, "speeds": [n / seconds],
            "best": peer.best_tokens()}


def bench(arguments):
    def numbers(text):
        return [int(part) for part in text.split(",")]
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=["llama", "ik"])
    parser.add_argument("model")
    parser.add_argument("-p", type=numbers, required=True)
    parser.add_argument("--depth", type=numbers, required=True)
    parser.add_argument("-n", type=int, required=True)
    parser.add_argument("-t", type=int, required=True)
    options = parser.parse_args(arguments)
    n_ctx = max(options.p + [depth + options.n for depth in options.depth])
    peer = Peer(options.peer, options.model, n_ctx, options.t)
    ids = tokens(n_ctx, peer.n_vocab)
    before = time.perf_counter()
    peer.append(ids[:1])
    first = peer.open + peer.load + time.perf_counter() - before
    report = {"load": peer.load, "first_token": first, "peak_memory": peak_memory() - peer.held,
              "vocab": peer.n_vocab}
    report["results"] = [measure(peer, ids, "prompt", n, 0) for n in options.p if n]
    if options.n:
        report["results"] += [measure(peer, ids, "decode", options.n, d) for d in options.depth]
    print(json.dumps(report))


def quantize(source, target, kind):
    api, _ = open_library(*LLAMA)
    api.llama_backend_init()
    options = api.llama_model_quantize_default_params()
    options.allow_requantize = True
    options.ftype = FILE_TYPES[kind]
    if api.llama_model_quantize(source.encode(), target.encode(), options):
        sys.exit("error: %s: could not be quantized" % source)


if __name__ == "__main__":
    if sys.argv[1:2] == ["quantize"]:
        quantize(*sys.argv[2:])
    else:
        bench(sys.argv[1:])
