"""Random strings of mixed scripts that tokenizers find hard: strings(random, n, extra) yields n of them;
extra: what else to strew in, such as the tokens that are matched first."""

RANGES = [  # first and last code point, how often
    (0x20, 0x7e, 8), (0x30, 0x39, 4), (0x41, 0x5a, 3), (0x61, 0x7a, 8), (0xa0, 0xff, 3),
    (0x100, 0x24f, 2), (0x250, 0x2ff, 1), (0x300, 0x36f, 3), (0x370, 0x3ff, 2), (0x400, 0x52f, 3),
    (0x591, 0x5f4, 2), (0x600, 0x6ff, 3), (0x900, 0x97f, 3), (0x980, 0x9ff, 1), (0xb80, 0xbff, 1),
    (0xe01, 0xe5b, 2), (0x1100, 0x11ff, 2), (0x1e00, 0x1eff, 2), (0x1f00, 0x1fff, 2),
    (0x2000, 0x206f, 2), (0x2070, 0x209f, 1), (0x20a0, 0x20cf, 1), (0x2100, 0x218f, 2),
    (0x2190, 0x23ff, 1), (0x2460, 0x24ff, 1), (0x2500, 0x25ff, 1), (0x2600, 0x27bf, 2),
    (0x3000, 0x303f, 2), (0x3040, 0x30ff, 3), (0x3100, 0x312f, 1), (0x3400, 0x4dbf, 1),
    (0x4e00, 0x9fff, 5), (0xac00, 0xd7a3, 4), (0xd7b0, 0xd7ff, 1), (0xe000, 0xe0ff, 1),
    (0xf900, 0xfaff, 1), (0xfb00, 0xfb4f, 1), (0xfe00, 0xfe0f, 1), (0xff00, 0xffef, 2),
    (0x10000, 0x1013f, 1), (0x10400, 0x1044f, 1), (0x1d400, 0x1d7ff, 1), (0x1f100, 0x1f1ff, 1),
    (0x1f300, 0x1f64f, 3), (0x1f900, 0x1f9ff, 1), (0x20000, 0x2fa1d, 2), (0xe0001, 0xe01ef, 1),
    (0, 0x1f, 1), (0x7f, 0x9f, 1), (0x10ff00, 0x10ffff, 1),
]
BLANKS = [' ', ' ', ' ', '  ', '   ', '\n', '\n\n', '\r\n', '\r', '\t', '\t\t', ' \n', '\n ', '\v', '\f',
          '\x85', '\xa0', '\u1680', '\u2002', '\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\u180e',
          '\u200b', '\ufeff', '    ', '        ', ' ' * 17, '\n' * 9, '/\n', '\n/']
PIECES = ["'s", "'S", "'\u017f", "'ll", "'LL", "'lL", "'re", "'VE", "'d", "'M", "'t", "'x", "''", "\u2019s",
          '...', '!!!', '?!', '->', '/*', '*/', '//', '==', '\u2581', '\u2581\u2581', ' \u2581', '<0x0A>',
          '<0xE2>', 'HTTPServer', 'camelCase', 'XMLHttp2', 'ALLCAPS', '\u01c5', '\u01c5ungla', '\u02b0',
          '12', '123', '1234', '1234567', '3.14', '1,000', '\u0663\u0664\u0665', '\u00bd', '\u2167', '\u3007',
          'e\u0301', '\u00e9', 'a\u0323\u0302', 'a\u0302\u0323', '\u1e9b\u0323', '\u1112\u1161\u11ab',
          '\ud55c', '\u0915\u094d\u0937', '\u0e01\u0e33', '\u212b', '\u2126', '\u0f73', '\u0344', '\u2adc',
          '\U0001f468\u200d\U0001f469\u200d\U0001f467', '\U0001f1e9\U0001f1ea', '\u2764\ufe0f',
          '\U0001d15e', '\ufb01', '\ufffd', '\ufffe', '\x00', 'the', ' the', 'The', ' of', 'ing', 'def ',
          'return', 'https://example.org/a?b=c', 'foo_bar', '{"a": [1, 2]}', '</s>', '<s>', '<|', '|>']


def make_char(random, ranges):
    first, last = random.choice(ranges)
    code = random.randint(first, last)
    return chr(code) if not 0xd800 <= code < 0xe000 else '\ufffd'


def make_run(random, ranges, extra):
    kind = random.random()
    if kind < 0.16:
        return random.choice(BLANKS) * random.choice((1, 1, 1, 2, 3))
    if kind < 0.34:
        return random.choice(PIECES)
    if kind < 0.42 and extra:
        piece = random.choice(extra)
        return piece if random.random() < 0.8 else piece[:random.randint(1, len(piece))]
    if kind < 0.45:
        return chr(random.choice((random.randint(0, 0xd7ff), random.randint(0xe000, 0x10ffff))))
    if kind < 0.48:
        return make_char(random, ranges) * random.randint(2, 60)
    first, last = random.choice(ranges)  # a word of one script
    word = ''.join(make_char(random, [(first, last)]) for _ in range(random.randint(1, 9)))
    return (' ' if random.random() < 0.4 else '') + word


def strings(random, n, extra):
    ranges = [r[:2] for r in RANGES for _ in range(r[2])]
    for _ in range(n):
        runs = 1 + min(40, int(random.expovariate(0.2)))
        yield ''.join(make_run(random, ranges, extra) for _ in range(runs))
