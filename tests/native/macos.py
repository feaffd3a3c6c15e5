"""Compiles and links the native code for the two processors of macOS; nothing of it can run here.

    python tests/native/macos.py build/macos

Zig (`pip install ziglang`) is the compiler: Clang with the headers of macOS. Python's headers are
those of this system. The script is also the compiler that CMake calls, since Zig's linker takes
neither bundles nor the list of Python's symbols that nanobind gives it: libraries are linked, and
what is missing is left to Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROCESSORS = ("aarch64", "x86_64")
MODULES = ("_native", "_binomial")
MACH_O = bytes.fromhex("cffaedfe")  # how 64-bit programs of macOS begin


def compile_as_cmake_asks(target: str, arguments: list[str]) -> None:
    """Become Zig's Clang for a target, which links a library where a bundle is asked for."""
    kept = [one for one in arguments if one != "-bundle" and not one.startswith("-Wl,@")]
    if "-bundle" in arguments:
        kept += ["-shared", "-Wl,-undefined,dynamic_lookup"]
    zig = [sys.executable, "-m", "ziglang", "c++", "-target", target]
    os.execv(sys.executable, [*zig, *kept])


def build(folder: Path, processor: str) -> list[Path]:
    """Compile and link the modules for a processor; their paths."""
    nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True)
    compiler = (sys.executable, __file__, "--compile", f"{processor}-macos")
    archiver = (
        f"{sys.executable} -m ziglang ar qc <TARGET> <OBJECTS>"  # aligned, as its linker asks
    )
    options = [
        "-DCMAKE_SYSTEM_NAME=Darwin",
        f"-DCMAKE_SYSTEM_PROCESSOR={processor}",
        f"-DCMAKE_CXX_COMPILER={';'.join(compiler)}",
        f"-DCMAKE_CXX_ARCHIVE_CREATE={archiver}",
        "-DCMAKE_CXX_ARCHIVE_FINISH=",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-Dnanobind_DIR={nanobind.strip()}",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON",
    ]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *options], check=True)
    make = ["cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", *MODULES]
    subprocess.run(make, check=True)
    return [one for name in MODULES for one in folder.glob(f"{name}*.so")]


def main(folder: Path) -> None:
    """Build for both processors anew; exit with 1 where a module is missing."""
    shutil.rmtree(folder, ignore_errors=True)
    failed = False
    for processor in PROCESSORS:
        modules = build(folder / processor, processor)
        whole = [one.name for one in modules if one.read_bytes().startswith(MACH_O)]
        print(f"macOS, {processor}: {', '.join(whole) or 'nothing'}", flush=True)
        failed = failed or len(whole) < len(MODULES)
    sys.exit(failed)


if __name__ == "__main__":
    if sys.argv[1] == "--compile":
        compile_as_cmake_asks(sys.argv[2], sys.argv[3:])
    main(Path(sys.argv[1]))
