#!/usr/bin/env python3
"""Prints the tokenizer vectors of the small models: fixture_vectors.py FOLDER

For each folder in FOLDER that has model.gguf and tokenizer_golden.json: a line with the path of the
model, then a line as in the other vectors for each case."""
import json
import os
import sys

for name in sorted(os.listdir(sys.argv[1])):
    model = os.path.join(sys.argv[1], name, "model.gguf")
    golden = os.path.join(sys.argv[1], name, "tokenizer_golden.json")
    if not os.path.exists(model) or not os.path.exists(golden):
        continue
    print(model)
    with open(golden, encoding="utf-8") as f:
        for case in json.load(f)["cases"]:
            print(json.dumps({"hex": case["text"].encode("utf-8").hex(), "ids": case["ids"],
                              "ids_special": case["ids_with_special"],
                              "decoded_hex": case["decoded"].encode("utf-8").hex()}))
