"""The Linux system calls that a program of one thread makes, on the host's own files.

Sources   arch/x86/entry/syscalls/syscall_64.tbl and the manual pages of each call.
"""
import errno
import os
import struct
import sys
import time

from machine import PAGE, WRITE, MemoryFault

MMAP_BASE = 0x7F0000000000
MAP_FIXED, MAP_ANONYMOUS, MREMAP_MAYMOVE = 0x10, 0x20, 1
AT_FDCWD, AT_EMPTY_PATH = 0xFFFFFF9C, 0x1000
ARCH_SET_FS = 0x1002
FUTEX_COMMANDS, FUTEX_WAKE = 0x7F, (1, 10)

# Calls whose answer is always the same.
FIXED = {
    "rt_sigaction": 0, "rt_sigprocmask": 0, "sigaltstack": 0, "madvise": 0, "set_robust_list": 0,
    "prlimit64": 0, "sched_yield": 0, "set_tid_address": 1000, "getpid": 1000, "gettid": 1000,
    "getppid": 1, "getuid": 0, "getgid": 0, "geteuid": 0, "getegid": 0, "ioctl": -errno.ENOTTY,
    "rseq": -errno.ENOSYS, "clone": -errno.EAGAIN, "clone3": -errno.EAGAIN,
    "readlink": -errno.EINVAL, "readlinkat": -errno.EINVAL, "statx": -errno.ENOSYS,
    "getrlimit": -errno.ENOSYS, "prctl": -errno.EINVAL, "get_mempolicy": -errno.ENOSYS,
    "sched_setaffinity": -errno.EINVAL, "socket": -errno.EAFNOSUPPORT}

NUMBERS = {
    0: "read", 1: "write", 3: "close", 4: "stat", 5: "fstat", 6: "lstat", 8: "lseek", 9: "mmap",
    10: "mprotect", 11: "munmap", 12: "brk", 13: "rt_sigaction", 14: "rt_sigprocmask", 16: "ioctl",
    17: "pread64", 20: "writev", 21: "access", 24: "sched_yield", 25: "mremap", 28: "madvise",
    39: "getpid", 41: "socket", 56: "clone", 60: "exit_group", 63: "uname", 72: "fcntl",
    79: "getcwd", 89: "readlink", 96: "gettimeofday", 97: "getrlimit", 99: "sysinfo",
    102: "getuid", 104: "getgid", 107: "geteuid", 108: "getegid", 110: "getppid",
    131: "sigaltstack", 157: "prctl", 158: "arch_prctl", 186: "gettid", 200: "tgkill",
    202: "futex", 203: "sched_setaffinity", 204: "sched_getaffinity", 218: "set_tid_address",
    228: "clock_gettime", 230: "clock_nanosleep", 231: "exit_group", 234: "tgkill",
    239: "get_mempolicy", 257: "openat", 262: "newfstatat", 267: "readlinkat", 269: "faccessat",
    273: "set_robust_list", 302: "prlimit64", 318: "getrandom", 332: "statx", 334: "rseq",
    435: "clone3", 439: "faccessat"}


class Unfinished(Exception):
    """The program asks for what cannot be had here."""


class Syscalls:
    """finish(code) is called when the program ends."""

    def __init__(self, memory, heap, finish):
        self.memory, self.finish = memory, finish
        self.heap = self.heap_end = heap
        self.next = MMAP_BASE

    def call(self, cpu):
        name = NUMBERS.get(cpu.rax)
        arguments = (cpu.rdi, cpu.rsi, cpu.rdx, cpu.r10, cpu.r8, cpu.r9)
        if name == "arch_prctl":
            return self._result(self._arch_prctl(cpu, arguments[0], arguments[1]))
        if name in FIXED:
            return self._result(FIXED[name])
        method = getattr(self, "_" + name, None) if name else None
        if not method:
            print("bochs: system call %d is not known here" % cpu.rax, file=sys.stderr)
            return self._result(-errno.ENOSYS)
        try:
            return self._result(method(*arguments[:method.__code__.co_argcount - 1]))
        except MemoryFault:
            return self._result(-errno.EFAULT)
        except OSError as error:
            return self._result(-error.errno)

    @staticmethod
    def _result(value):
        return value & 0xFFFFFFFFFFFFFFFF

    @staticmethod
    def _signed(value):
        return value - (1 << 64) if value >> 63 else value

    # ---- memory

    def _brk(self, address):
        if address >= self.heap:
            old, new = ((a + PAGE - 1) & ~(PAGE - 1) for a in (self.heap_end, address))
            if new > old:
                self.memory.map(old, new - old, 3)
            elif new < old:
                self.memory.unmap(new, old - new)
            self.heap_end = address
        return self.heap_end

    def _place(self, size):
        address = self.next
        self.next += (size + PAGE - 1 & ~(PAGE - 1)) + PAGE
        return address

    def _mmap(self, address, size, prot, flags, file, offset):
        if size == 0:
            return -errno.EINVAL
        if not flags & MAP_FIXED:
            address = self._place(size)
        self.memory.map(address, size, prot)
        if not flags & MAP_ANONYMOUS:  # a copy: nothing is ever written back
            self.memory.write(address, os.pread(file & 0xFFFFFFFF, size, offset))
        return address

    def _munmap(self, address, size):
        self.memory.unmap(address, size)
        return 0

    def _mprotect(self, address, size, prot):
        self.memory.protect(address, size, prot)
        return 0

    def _mremap(self, address, old, new, flags):
        if not flags & MREMAP_MAYMOVE:
            return -errno.ENOMEM
        data = self.memory.read(address, min(old, new))
        place = self._place(new)
        self.memory.map(place, new, 1 | WRITE)
        self.memory.write(place, data)
        self.memory.unmap(address, old)
        return place

    # ---- files

    def _path(self, folder, address):
        path = self.memory.read_string(address)
        if folder & 0xFFFFFFFF != AT_FDCWD and not path.startswith(b"/"):
            raise OSError(errno.ENOSYS, "a path beside an open folder")
        return path

    def _openat(self, folder, path, flags, mode):
        return os.open(self._path(folder, path), flags & 0xFFFFFFFF, mode & 0o7777)

    def _close(self, file):
        if file > 2:
            os.close(file)
        return 0

    def _read(self, file, address, size):
        data = os.read(file, size)
        self.memory.write(address, data)
        return len(data)

    def _pread64(self, file, address, size, offset):
        data = os.pread(file, size, offset)
        self.memory.write(address, data)
        return len(data)

    def _lseek(self, file, offset, whence):
        return os.lseek(file, self._signed(offset), whence)

    def _write(self, file, address, size):
        return os.write(file, self.memory.read(address, size))

    def _writev(self, file, vectors, count):
        data = b""
        for i in range(count):
            address, size = struct.unpack("<QQ", self.memory.read(vectors + 16 * i, 16))
            data += self.memory.read(address, size)
        return os.write(file, data)

    def _fcntl(self, file, _command):
        os.fstat(file)
        return 0

    def _access(self, path, mode):
        return 0 if os.access(self._path(AT_FDCWD, path), mode) else -errno.ENOENT

    def _faccessat(self, folder, path, mode):
        return 0 if os.access(self._path(folder, path), mode) else -errno.ENOENT

    def _put_stat(self, address, s):
        self.memory.write(address, struct.pack(
            "<QQQIIIIQqqqQqQqQq24x", s.st_dev, s.st_ino, s.st_nlink, s.st_mode, s.st_uid, s.st_gid,
            0, s.st_rdev, s.st_size, s.st_blksize, s.st_blocks,
            *(part for t in (s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns)
              for part in divmod(t, 10**9))))
        return 0

    def _stat(self, path, address):
        return self._put_stat(address, os.stat(self._path(AT_FDCWD, path)))

    def _lstat(self, path, address):
        return self._put_stat(address, os.lstat(self._path(AT_FDCWD, path)))

    def _fstat(self, file, address):
        return self._put_stat(address, os.fstat(file))

    def _newfstatat(self, folder, path, address, flags):
        if flags & AT_EMPTY_PATH and not self.memory.read_string(path):
            return self._fstat(folder, address)
        return self._put_stat(address, os.stat(self._path(folder, path)))

    def _getcwd(self, address, size):
        path = os.getcwdb() + b"\0"
        if len(path) > size:
            return -errno.ERANGE
        self.memory.write(address, path)
        return len(path)

    # ---- the rest

    @staticmethod
    def _arch_prctl(cpu, what, address):
        if what != ARCH_SET_FS:
            return -errno.EINVAL
        segment = cpu.fs
        segment.base = address
        cpu.fs = segment
        return 0

    def _uname(self, address):
        fields = (b"Linux", b"bochs", b"6.1.0", b"#1", b"x86_64", b"")
        self.memory.write(address, b"".join(field.ljust(65, b"\0") for field in fields))
        return 0

    def _clock_gettime(self, clock, address):
        now = time.clock_gettime_ns(clock)
        self.memory.write(address, struct.pack("<qq", *divmod(now, 10**9)))
        return 0

    def _gettimeofday(self, address):
        seconds, nanoseconds = divmod(time.time_ns(), 10**9)
        self.memory.write(address, struct.pack("<qq", seconds, nanoseconds // 1000))
        return 0

    def _clock_nanosleep(self):
        return 0

    def _sysinfo(self, address):
        self.memory.write(address, struct.pack("<qQQQQQQQQHH4xQQI4x", 1, 0, 0, 0, 1 << 30, 1 << 29,
                                               0, 0, 0, 1, 0, 0, 0, 1))
        return 0

    def _sched_getaffinity(self, _process, size, address):
        if size < 8:
            return -errno.EINVAL
        self.memory.write(address, struct.pack("<Q", 1))
        return 8

    def _getrandom(self, address, size):
        self.memory.write(address, os.urandom(size))
        return size

    def _futex(self, _address, command):
        if command & FUTEX_COMMANDS in FUTEX_WAKE:
            return 0
        raise Unfinished("a wait for another thread; there is only one")

    def _tgkill(self, _first, second, third):
        self.finish(128 + (third or second))
        return 0

    def _exit_group(self, code):
        self.finish(code & 255)
        return 0
