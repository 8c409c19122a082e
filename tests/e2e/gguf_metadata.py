"""Changes the metadata of a GGUF file: tokens spelled otherwise, another chat template or none."""
import struct

TEMPLATE = "tokenizer.chat_template"
CONTROL, USER, NORMAL = 3, 4, 1
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY, I32 = 8, 9, 5


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize(code)))[0]

    def string(self):
        return self.take(self.number("Q"))

    def value(self, kind):
        """Bytes of a scalar or string; (type, list of such) of an array."""
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner = self.number("I")
            return inner, [self.value(inner) for _ in range(self.number("Q"))]
        return self.take(SIZES[kind])


def string(data):
    return struct.pack("<Q", len(data)) + data


def encoded(kind, value):
    if kind == STRING:
        return string(value)
    if kind == ARRAY:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(encoded(inner, i) for i in items)
    return value


def read(data):
    """The head, the metadata {key: (type, value)}, the tensor table, and the tensors."""
    r = Reader(data)
    head = r.take(8)
    n_tensors, n_values = r.number("Q"), r.number("Q")
    metadata = {}
    for _ in range(n_values):
        key, kind = r.string().decode(), r.number("I")
        metadata[key] = kind, r.value(kind)
    start = r.at
    for _ in range(n_tensors):
        r.string()
        r.take(8 * r.number("I") + 4 + 8)
    table = data[start:r.at]
    return head + struct.pack("<Q", n_tensors), metadata, table, data[(r.at + 31) // 32 * 32:]


def change(source, target, tokens=None, template=None):
    """Writes target: source with tokens {id: (text, kind)}, whose text is bytes as the vocabulary
    spells them, and a template; b"" takes it away."""
    with open(source, "rb") as file:
        head, metadata, table, tensors = read(file.read())
    for key, (text, kind) in (tokens or {}).items():
        metadata["tokenizer.ggml.tokens"][1][1][key] = text
        metadata["tokenizer.ggml.token_type"][1][1][key] = struct.pack("<i", kind)
    if template == b"":
        metadata.pop(TEMPLATE)
    elif template is not None:
        metadata[TEMPLATE] = STRING, template
    out = head + struct.pack("<Q", len(metadata))
    for key, (kind, value) in metadata.items():
        out += string(key.encode()) + struct.pack("<I", kind) + encoded(kind, value)
    out += table
    out += bytes(-len(out) % 32) + tensors
    with open(target, "wb") as file:
        file.write(out)
    return target
