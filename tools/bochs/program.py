"""A static ELF program of x86-64 and its first stack.

Sources   System V ABI, AMD64 supplement, 3.4 (process initialization); elf(5), getauxval(3).
"""
import os
import struct

from machine import PAGE, READ, WRITE

STACK_TOP, STACK_BYTES = 0x7FFD00800000, 8 << 20
PIE_BASE = 0x10000000
PT_LOAD, PT_INTERP, ET_EXEC, ET_DYN, EM_X86_64 = 1, 3, 2, 3, 62
AT_NULL, AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_ENTRY = 0, 3, 4, 5, 6, 9
AT_UID, AT_EUID, AT_GID, AT_EGID, AT_HWCAP, AT_SECURE, AT_RANDOM, AT_HWCAP2, AT_EXECFN = (
    11, 12, 13, 14, 16, 23, 25, 26, 31)
HWCAP, HWCAP2 = 0x078BFBFF, 2  # cpuid 1 edx of the baseline; rdfsbase may be used


class Program:
    """entry, and end: the first page behind the program, where its heap begins."""

    def __init__(self, path, memory):
        with open(path, "rb") as file:
            elf = file.read()
        if elf[:6] != b"\x7fELF\x02\x01":
            raise ValueError("%s: not a 64-bit ELF file" % path)
        kind, machine = struct.unpack_from("<HH", elf, 16)
        if machine != EM_X86_64 or kind not in (ET_EXEC, ET_DYN):
            raise ValueError("%s: not a program for x86-64" % path)
        entry, table = struct.unpack_from("<QQ", elf, 24)
        self.header_size, self.headers = struct.unpack_from("<HH", elf, 54)
        base = PIE_BASE if kind == ET_DYN else 0
        segments = []
        for i in range(self.headers):
            kind, _flags, offset, address, _physical, in_file, size, _align = struct.unpack_from(
                "<IIQQQQQQ", elf, table + i * self.header_size)
            if kind == PT_INTERP:
                raise ValueError("%s: dynamically linked; link it with -static" % path)
            if kind == PT_LOAD:
                segments.append((base + address, size, elf[offset:offset + in_file]))
        if not segments:
            raise ValueError("%s: nothing to load" % path)
        low = min(address for address, _size, _data in segments) & ~(PAGE - 1)
        high = max(address + size for address, size, _data in segments)
        self.entry, self.end = base + entry, (high + PAGE - 1) & ~(PAGE - 1)
        self.header_address = low + table
        memory.map(low, self.end - low, READ | WRITE)
        for address, _size, data in segments:
            memory.write(address, data)

    def push_arguments(self, memory, arguments, environment):
        """Fills the stack and returns its pointer."""
        memory.map(STACK_TOP - STACK_BYTES, STACK_BYTES, READ | WRITE)
        top = STACK_TOP

        def push(data):
            nonlocal top
            top -= len(data)
            memory.write(top, data)
            return top

        def push_strings(strings):
            return [push(text + b"\0") for text in strings]

        argv = push_strings(arguments)
        envp = push_strings(environment)
        random = push(os.urandom(16))
        auxiliary = [
            (AT_PHDR, self.header_address), (AT_PHENT, self.header_size),
            (AT_PHNUM, self.headers), (AT_PAGESZ, PAGE), (AT_ENTRY, self.entry), (AT_UID, 0),
            (AT_EUID, 0), (AT_GID, 0), (AT_EGID, 0), (AT_SECURE, 0), (AT_HWCAP, HWCAP),
            (AT_HWCAP2, HWCAP2), (AT_RANDOM, random), (AT_EXECFN, argv[0]), (AT_NULL, 0)]
        words = [len(argv)] + argv + [0] + envp + [0]
        for pair in auxiliary:
            words += pair
        top = (top - 8 * len(words)) & ~15
        memory.write(top, struct.pack("<%dQ" % len(words), *words))
        return top
