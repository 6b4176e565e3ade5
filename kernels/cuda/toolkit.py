#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The CUDA toolkit as Python packages, for a machine with an NVIDIA driver and no nvcc.

Usage: toolkit.py check            succeeds if this machine's driver and a GPU can use the toolkit;
                                   else prints why not
       toolkit.py architectures    prints the compute capabilities of the GPUs: 80,90
       toolkit.py has-pip          succeeds if packages can be downloaded
       toolkit.py fetch FOLDER     downloads the packages with pip, and makes the folder from them

FOLDER gets bin, include, lib and nvvm, licenses, and the file `versions`, which lists the packages.
It is made in FOLDER.part and renamed at the end, so that it is complete or absent.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# The packages, in the versions with which this tree was measured. The compiler is that of CUDA 13.0,
# because drivers reject PTX and runtimes that are newer than themselves. CUDA 12 is not offered,
# because its packages contain no nvcc.
PACKAGES = {
    "nvidia-cuda-nvcc": "13.0.*",
    "nvidia-nvvm": "13.0.*",
    "nvidia-cuda-crt": "13.0.*",
    "nvidia-cuda-runtime": "13.0.*",
    "nvidia-cuda-cccl": "13.0.*",
    "nvidia-cuda-nvrtc": "13.0.*",  # cuDNN compiles kernels of attention by it
    "nvidia-cublas": "13.1.0.*",
    "nvidia-cudnn-cu13": "9.19.*",
    "nvidia-nccl-cu13": "2.28.*",
}
OLDEST_CUDA = (13, 0)
OLDEST_DRIVER = 580
OLDEST_CAPABILITY = 80
SPACE = 3_000_000_000  # bytes while it is made: unpacked packages, and the largest one packed


class Rejected(Exception):
    """A sentence for the user."""


# --- The machine ----------------------------------------------------------------------------------


def ask_driver(*options):
    """Returns the output of nvidia-smi; empty if it is missing or finds no driver."""
    try:
        run = subprocess.run(["nvidia-smi", *options], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout if run.returncode == 0 else ""


def find_capabilities():
    """Returns the compute capabilities of the GPUs times ten, each once, in ascending order."""
    lines = ask_driver("--query-gpu=compute_cap", "--format=csv,noheader").split()
    return sorted({int(major) * 10 + int(minor)
                   for major, minor in (line.split(".") for line in lines
                                        if re.fullmatch(r"\d+\.\d", line))})


def usable(capabilities):
    return [capability for capability in capabilities if capability >= OLDEST_CAPABILITY]


def check_driver():
    """Raises Rejected if the driver is too old. A driver that names no version passes."""
    header = ask_driver()
    if cuda := re.search(r"CUDA(?: UMD)? Version\s*:\s*(\d+)\.(\d+)", header):
        if (int(cuda[1]), int(cuda[2])) < OLDEST_CUDA:
            raise Rejected(f"the NVIDIA driver supports CUDA {cuda[1]}.{cuda[2]}, 13.0 is needed; "
                          f"update the driver to {OLDEST_DRIVER} or newer")
        return
    try:
        loaded = pathlib.Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        return
    version = re.search(r"\s(\d+)\.\d+(?:\.\d+)?\s", loaded)
    if version and int(version[1]) < OLDEST_DRIVER:
        raise Rejected(f"the NVIDIA driver is {version[0].strip()}, {OLDEST_DRIVER} is needed for "
                      "CUDA 13.0; update the driver")


def check():
    check_driver()
    capabilities = find_capabilities()
    if capabilities and not usable(capabilities):
        raise Rejected(f"the GPU has compute capability {capabilities[-1] / 10}; the kernels need "
                      f"{OLDEST_CAPABILITY / 10} or newer")


# --- Downloading ----------------------------------------------------------------------------------


def works(python):
    return subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0


def has_pip():
    return works(sys.executable) or subprocess.run(
        [sys.executable, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0


def find_pip(folder):
    """Returns the Python whose pip is used: this one, or that of a virtual environment."""
    if works(sys.executable):
        return sys.executable
    made = subprocess.run([sys.executable, "-m", "venv", folder / "venv"], capture_output=True)
    python = folder / "venv/bin/python3"
    if made.returncode != 0 or not works(python):
        raise Rejected("Python has neither pip nor ensurepip; install python3-pip")
    return python


def download(python, package, version, folder):
    """Returns the file of a package. pip knows the user's index, proxies and certificates."""
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    run = subprocess.run([python, "-m", "pip", "download", *quiet, "--no-deps",
                          "--only-binary=:all:", "--dest", folder, f"{package}=={version}"],
                         stdin=subprocess.DEVNULL, stdout=sys.stderr)
    files = list(folder.glob("*.whl"))
    if run.returncode != 0 or len(files) != 1:
        raise Rejected(f"{package}: pip could not download it")
    return files[0]


# --- Unpacking ------------------------------------------------------------------------------------


def place(name):
    """Returns the place in a toolkit of a file of a package: nvidia/cu13/bin/nvcc is bin/nvcc.
    Returns None for files that only Python needs."""
    parts = name.split("/")
    if ".." in parts:
        return None
    if len(parts) > 2 and parts[0] == "nvidia" and parts[2] in ("bin", "include", "lib", "nvvm"):
        return None if parts[-1] == "__init__.py" else "/".join(parts[2:])
    if parts[0].endswith(".dist-info") and re.match("licen[sc]e", parts[-1], re.I):
        return f"licenses/{parts[0].removesuffix('.dist-info')}.txt"
    return None


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            where = place(entry.filename)
            if entry.is_dir() or not where:
                continue
            target = folder / where
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
            if where.startswith(("bin/", "nvvm/bin/")):
                target.chmod(0o755)


def link_libraries(folder):
    """Makes the names without versions by which linkers look for libraries."""
    for library in folder.glob("lib/*.so.*"):
        link = library.with_name(re.sub(r"\.so\..*", ".so", library.name))
        if not link.exists():
            link.symlink_to(library.name)


def fill(folder, work):
    python = find_pip(work)
    versions = []
    for n, (package, version) in enumerate(PACKAGES.items()):
        print(f"setup: {package} ({n + 1} of {len(PACKAGES)})", file=sys.stderr, flush=True)
        wheel = download(python, package, version, work)
        unpack(wheel, folder)
        versions.append(f"{package} {wheel.name.split('-')[1]}\n")
        wheel.unlink()
    link_libraries(folder)
    (folder / "versions").write_text("".join(versions))


def fetch(folder):
    part = folder.with_name(folder.name + ".part")
    if folder.exists():
        raise Rejected(f"{folder} exists; remove it to fetch the toolkit again")
    if part.exists():
        shutil.rmtree(part)
    part.mkdir(parents=True)
    try:
        unused = shutil.disk_usage(part).free
        if unused < SPACE:
            raise Rejected(f"{folder}: {SPACE / 1e9:.1f} GB are needed, {unused / 1e9:.1f} GB are "
                          "free; free some space")
        with tempfile.TemporaryDirectory(dir=part) as work:
            fill(part, pathlib.Path(work))
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def main():
    command, arguments = sys.argv[1:2], sys.argv[2:]
    try:
        if command == ["check"]:
            check()
        elif command == ["architectures"]:
            print(",".join(map(str, usable(find_capabilities()))))
        elif command == ["has-pip"]:
            return 0 if has_pip() else 1
        elif command == ["fetch"] and len(arguments) == 1:
            fetch(pathlib.Path(arguments[0]).absolute())
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except (Rejected, OSError, zipfile.BadZipFile) as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
