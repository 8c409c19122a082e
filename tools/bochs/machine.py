"""One Bochs CPU in 64-bit mode, and the memory that it sees.

The program runs in ring 0, with no kernel below it. The instruction syscall jumps to a stub of a few
instructions in a page of its own; the first, clflush of a known address, calls back into Python.
"""
import ctypes
import mmap
import struct

import bochscpu
import bochscpu._bochscpu
import bochscpu.cpu
import bochscpu.memory

PAGE = 4096
POOL_BYTES = 1 << 30          # of physical memory; the host gives what is touched
PHYSICAL_BASE = 1 << 20
STUB = 0xFFFFFFFF80000000     # address of the syscall stub, and of the byte that it flushes
READ, WRITE = 1, 2            # as in mmap's prot
MAP_NORESERVE = 0x4000        # Python names it since 3.13
PRESENT, WRITABLE, USER = 1, 2, 4

# The tables may have changed during the call, so the stub writes cr3, which empties the TLB. The
# 128 bytes under rsp are the program's.
STUB_CODE = bytes.fromhex(
    "0fae3c2500000080"  # clflush [STUB]
    "488d642480"        # lea rsp, [rsp - 128]
    "50" "0f20d8" "0f22d8" "58"  # push rax; mov rax, cr3; mov cr3, rax; pop rax
    "4153" "9d"         # push r11; popfq
    "488da42480000000"  # lea rsp, [rsp + 128]
    "ffe1")             # jmp rcx

# The model that the package makes, and how it makes any other: a function create_NAME_cpuid each.
OWN_MODEL = "corei3_cnl"
MODELS = ("core2_penryn_t9600", "corei5_lynnfield_750", "corei7_sandy_bridge_2600k",
          "corei7_ivy_bridge_3770k", "corei7_haswell_4770", "broadwell_ult", "corei7_skylake_x",
          "corei3_cnl", "corei7_icelake_u", "tigerlake", "sapphire_rapids", "arrow_lake",
          "zambezi", "trinity_apu", "ryzen")


class MemoryFault(Exception):
    """An address that a system call was given is not mapped."""


def choose_model(name):
    """Has the package make this model: its own factory function is made to jump to the other's."""
    if name not in MODELS:
        raise ValueError("unknown CPU model %s; one of: %s" % (name, " ".join(MODELS)))
    package = ctypes.CDLL(bochscpu._bochscpu.__file__)

    def factory(model):
        function = "create_%s_cpuid" % model
        symbol = getattr(package, "_Z%d%sP8BX_CPU_C" % (len(function), function))
        return ctypes.cast(symbol, ctypes.c_void_p).value

    here, there = factory(OWN_MODEL), factory(name)
    if here == there:
        return
    mprotect = ctypes.CDLL(None, use_errno=True).mprotect
    mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    page = here & ~(PAGE - 1)
    if mprotect(page, 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "mprotect")
    ctypes.memmove(here, b"\xe9" + struct.pack("<i", there - (here + 5)), 5)
    mprotect(page, 2 * PAGE, mmap.PROT_READ | mmap.PROT_EXEC)


class Memory:
    """Physical pages of a pool, and page tables of four levels that map them."""

    def __init__(self):
        self.pool = mmap.mmap(-1, POOL_BYTES,
                              flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE)
        self.host = ctypes.addressof(ctypes.c_char.from_buffer(self.pool))
        self.used = 0     # offset in the pool behind the pages ever handed out
        self.free = []    # offsets of pages that were given back
        self.tables = {}  # (index of level 4, 3, 2): offset of that table; () is the root
        self.pages = {}   # address of a mapped page: its offset in the pool
        self.root = self._table(())

    def _page(self):
        if self.free:
            offset = self.free.pop()
            self.pool[offset:offset + PAGE] = bytes(PAGE)
            return offset
        offset = self.used
        if offset + PAGE > POOL_BYTES:
            raise MemoryError("the emulated machine has no more memory")
        self.used += PAGE
        bochscpu.memory.page_insert(PHYSICAL_BASE + offset, self.host + offset)
        return offset

    def _table(self, key):
        if key not in self.tables:
            self.tables[key] = self._page()
            if key:
                self._set(self._table(key[:-1]), key[-1], self.tables[key],
                          PRESENT | WRITABLE | USER)
        return self.tables[key]

    def _set(self, table, index, offset, flags):
        struct.pack_into("<Q", self.pool, table + 8 * index, PHYSICAL_BASE + offset | flags)

    def _map_page(self, address, offset, prot):
        i4, i3, i2, i1 = (address >> shift & 511 for shift in (39, 30, 21, 12))
        flags = USER | (PRESENT if prot else 0) | (WRITABLE if prot & WRITE else 0)
        self._set(self._table((i4, i3, i2)), i1, offset, flags)

    def map(self, address, size, prot):
        """Zeroed pages; what was mapped there is lost."""
        for page in range(address & ~(PAGE - 1), address + size, PAGE):
            if page in self.pages:
                self.free.append(self.pages[page])
            self.pages[page] = self._page()
            self._map_page(page, self.pages[page], prot)

    def unmap(self, address, size):
        for page in range(address & ~(PAGE - 1), address + size, PAGE):
            if page in self.pages:
                self.free.append(self.pages[page])
                self._map_page(page, self.pages.pop(page), 0)

    def protect(self, address, size, prot):
        for page in range(address & ~(PAGE - 1), address + size, PAGE):
            if page not in self.pages:
                raise MemoryFault(hex(page))
            self._map_page(page, self.pages[page], prot)

    def _pieces(self, address, size):
        while size > 0:
            page = address & ~(PAGE - 1)
            if page not in self.pages:
                raise MemoryFault(hex(address))
            count = min(size, page + PAGE - address)
            yield self.pages[page] + address - page, count
            address, size = address + count, size - count

    def read(self, address, size):
        return b"".join(self.pool[at:at + count] for at, count in self._pieces(address, size))

    def write(self, address, data):
        done = 0
        for at, count in self._pieces(address, len(data)):
            self.pool[at:at + count] = data[done:done + count]
            done += count

    def read_string(self, address):
        text = b""
        while b"\0" not in text:
            text += self.read(address + len(text), PAGE - (address + len(text)) % PAGE)
        return text[:text.index(b"\0")]


class Machine:
    """on_syscall(cpu) is called for each system call and returns its result; on_fault(name, error,
    rip) for an exception of the CPU. stop() ends run()."""

    def __init__(self, model, saved_state):
        choose_model(model)
        self.memory = Memory()
        self.memory.map(STUB, PAGE, READ)
        self.memory.write(STUB, STUB_CODE)
        self.session = bochscpu.Session()
        self.session.missing_page_handler = self._missing
        self.saved_state = saved_state
        self.on_syscall = self.on_fault = None

    @property
    def cpu(self):
        return self.session.cpu

    def _missing(self, physical):
        self.on_fault("physical address %#x" % physical, 0, self.cpu.rip)

    def _segment(self, selector, attributes):
        segment = bochscpu.Segment()
        segment.present, segment.selector, segment.base = True, selector, 0
        segment.limit, segment.attr = 0xFFFFFFFF, attributes
        return segment

    def start(self, rip, rsp):
        state = bochscpu.State()
        bochscpu.cpu.set_long_mode(state)
        state.cr0 = 0x80050033           # paging, write protection, monitored x87
        state.cr4 = 0x50620              # PAE, SSE and its exceptions, FSGSBASE, XSAVE
        state.efer = 0xD01               # long mode, syscall, no-execute
        state.xcr0 = self.saved_state    # what the operating system saves: 7 to AVX, 0xe7 to AVX-512
        state.cr3 = PHYSICAL_BASE + self.memory.root
        state.rip, state.rsp, state.rflags = rip, rsp, 2
        state.lstar, state.sfmask, state.star = STUB, 0, 0x10 << 32
        state.mxcsr, state.mxcsr_mask = 0x1F80, 0xFFFF
        state.fpcw, state.fptw = 0x37F, 0xFFFF
        state.tsc, state.seed = 0, 1
        state.cs = self._segment(0x10, 0xA09B)
        for name in ("ds", "es", "ss", "fs", "gs"):
            setattr(state, name, self._segment(0x18, 0xC093))
        self.cpu.state = state

    def _flushed(self, _session, _cpu, linear, _physical):
        if linear & 0xFFFFFFFFFFFFFFFF == STUB:
            cpu = self.cpu
            cpu.rax = self.on_syscall(cpu)

    def _excepted(self, _session, _cpu, vector, error):
        self.on_fault(int(vector), error, self.cpu.rip)

    def run(self):
        hook = bochscpu.Hook()
        hook.clflush, hook.exception = self._flushed, self._excepted
        self.session.run([hook])

    def stop(self):
        self.session.stop()
