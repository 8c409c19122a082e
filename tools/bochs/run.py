"""run.py --cpu MODEL [--saved-state XCR0] PROGRAM [ARGUMENT...]

Runs a static x86-64 Linux program of one thread on the Bochs CPU of that model, instruction by
instruction, about 20 million a second: for instruction sets that the machine at hand does not have.
The environment is passed on. tools/bochs/bochs-run calls this.

Exit code: the program's own; 132 an illegal instruction, 139 another exception of the CPU, 71 what
cannot be run here, 2 usage.
"""
import argparse
import os
import sys

from machine import MODELS, Machine
from program import Program
from syscalls import Syscalls, Unfinished

ILLEGAL, SEGMENT, CANNOT = 132, 139, 71
INVALID_OPCODE, DEVICE_MISSING = 6, 7


def parse():
    parser = argparse.ArgumentParser(add_help=True, description="Runs a program on the Bochs CPU.")
    parser.add_argument("--cpu", default="tigerlake", choices=MODELS, metavar="MODEL",
                        help="one of: " + " ".join(MODELS))
    parser.add_argument("--saved-state", default="0xe7", type=lambda text: int(text, 0),
                        help="XCR0: what the operating system saves; 3 SSE, 7 AVX, 0xe7 AVX-512")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main():
    options = parse()
    machine = Machine(options.cpu, options.saved_state)
    code = None

    def finish(value):
        nonlocal code
        if code is None:
            code = value
        machine.stop()

    def fault(vector, error, rip):
        print("bochs: %s on %s: exception %s, error %#x, rip %#x"
              % (options.program, options.cpu, vector, error, rip), file=sys.stderr)
        finish(ILLEGAL if vector in (INVALID_OPCODE, DEVICE_MISSING) else SEGMENT)

    def syscall(cpu):
        try:
            return calls.call(cpu)
        except (Unfinished, MemoryError) as error:
            print("bochs: %s: %s" % (options.program, error), file=sys.stderr)
        except Exception as error:  # no exception may go back through the CPU
            print("bochs: %s: system call: %r" % (options.program, error), file=sys.stderr)
        finish(CANNOT)
        return 0

    try:
        program = Program(options.program, machine.memory)
    except (OSError, ValueError) as error:
        print("error: %s" % error, file=sys.stderr)
        return CANNOT
    arguments = [os.fsencode(text) for text in [options.program] + options.arguments]
    environment = [name + b"=" + value for name, value in os.environb.items()
                   if not name.startswith(b"LD_")]
    stack = program.push_arguments(machine.memory, arguments, environment)
    calls = Syscalls(machine.memory, program.end, finish)
    machine.on_syscall, machine.on_fault = syscall, fault
    machine.start(program.entry, stack)
    machine.run()
    return CANNOT if code is None else code


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the CPU's own threads and pages need no taking down
