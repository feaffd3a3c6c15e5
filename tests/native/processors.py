"""Builds tests/native/forests.cpp for x86-64 and for ARM, and compares the forests.

    python tests/native/processors.py build/processors

ARM is cross-compiled and emulated (Debian: g++-aarch64-linux-gnu, qemu-user).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ARM_COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
ARM = [
    f"-DCMAKE_CXX_COMPILER={ARM_COMPILER}",
    "-DCMAKE_SYSTEM_NAME=Linux",
    "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
    "-DCMAKE_EXE_LINKER_FLAGS=-static",
]


def program(name: str) -> str | None:
    """Where a program is; those of this environment first."""
    return shutil.which(
        name, path=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()])
    )


def missing_programs() -> list[str]:
    """The programs without which nothing can be compared."""
    return [name for name in ("cmake", ARM_COMPILER, EMULATOR) if program(name) is None]


def build(folder: Path, options: list[str]) -> Path:
    """Compile forests.cpp and the engine; the path of the program."""
    cmake = program("cmake")
    options = ["-DNULLFOREST_WITHOUT_PYTHON=ON", *options]
    for command in (
        [cmake, "-S", ROOT, "-B", folder, *options],
        [cmake, "--build", folder, "--parallel", str(os.cpu_count())],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
    return folder / "forests"


def forests(command: list[str | Path], instruction_set: str, every: int) -> list[str]:
    """Names and hashes of every so-manieth forest; [] where there is no such instruction set."""
    environment = os.environ | {"NULLFOREST_ISA": instruction_set}
    done = subprocess.run(
        [*command, str(every)], env=environment, capture_output=True, text=True, check=True
    )
    used, *lines = done.stdout.splitlines()
    return lines if used == instruction_set else []


def main(folder: Path) -> None:
    """Compare all forests on all instruction sets; exit with 1 where any differs."""
    x86, arm = build(folder / "x86", []), build(folder / "arm", ARM)
    reference = forests([x86], "generic", 1)
    failed = False
    for command, sets in (
        ([x86], ("portable", "avx2", "avx512")),
        ([program(EMULATOR), arm], ("generic", "portable", "neon")),
    ):
        for name in sets:
            lines = forests(command, name, 1)
            wrong = [line for line in lines if line not in reference]
            same = len(lines) == len(reference) and not wrong
            verdict = "not on this processor" if not lines else "same" if same else "DIFFERENT"
            print(f"{command[-1]}, {name}: {len(lines)} forests, {verdict}", flush=True)
            failed = failed or verdict == "DIFFERENT" or (not lines and command[-1] == arm)
            print("".join(f"  {line}\n" for line in wrong[:5]), end="")
    sys.exit(failed)


if __name__ == "__main__":
    if lacking := missing_programs():
        sys.exit(f"NOT HERE: {', '.join(lacking)}; ARM will NOT BE TESTED.")
    main(Path(sys.argv[1]))
