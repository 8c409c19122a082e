"""What the package tokenizers makes of strings: token_reference.py TOKENIZER.json IN OUT, a JSON string a
line in; a line out is a JSON array: ids without and with special tokens, and the text of the latter
with and without those."""
import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_padding()
tokenizer.no_truncation()
with open(sys.argv[2]) as file, open(sys.argv[3], 'w') as out:
    for line in file:
        text = json.loads(line)
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        ids = tokenizer.encode(text).ids
        decoded = [tokenizer.decode(ids, skip_special_tokens=skip) for skip in (False, True)]
        out.write(json.dumps([plain, ids, *decoded]) + '\n')
