#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests, as TAP, what ./setup does about CUDA, without a network, a GPU or a build: in a copy of it
where nvidia-smi, meson, ninja and pip are programs that write down their arguments.

Usage: setup-cuda.py SOURCE-FOLDER
"""
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])
TOOLS = ["bash", "cat", "cp", "dirname", "env", "grep", "head", "id", "ls", "mkdir", "mktemp", "nproc",
         "python3", "rm", "sed", "tr", "uname", "wc"]

NVIDIA_SMI = """#!/usr/bin/env bash
case "$*" in
  *compute_cap*) printf '%s\\n' $CAPABILITIES ;;
  *) echo "| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: $CUDA   |" ;;
esac
"""
MESON = """#!/usr/bin/env bash
echo "meson $*" >> "$LOG"
mkdir -p build/meson-private
touch build/build.ninja
for option; do
  case "$option" in -D*) option=${option#-D}; echo "${option%%=*} = ${option#*=}" ;; esac
done > build/meson-private/cmd_line.txt
"""
# Packages have the folders of the real ones.
PIP = """
import os, pathlib, sys, zipfile
FILES = {
    "nvidia-cuda-nvcc": ["nvidia/cu13/bin/nvcc", "nvidia/cu13/bin/crt/link.stub"],
    "nvidia-nvvm": ["nvidia/cu13/nvvm/bin/cicc", "nvidia/cu13/.metadata/sizes.txt"],
    "nvidia-cublas": ["nvidia/cu13/lib/libcublasLt.so.13", "nvidia/__init__.py"],
    "nvidia-cudnn-cu13": ["nvidia/cudnn/lib/libcudnn.so.9", "nvidia/cudnn/lib/__init__.py"],
    "nvidia-nccl-cu13": ["nvidia/nccl/lib/libnccl.so.2", "nvidia/nccl/include/../../nccl.h"],
}
if sys.argv[1:] == ["--version"]:
    sys.exit(0)
with open(os.environ["LOG"], "a") as log:
    log.write("pip " + sys.argv[-1] + "\\n")
name, version = sys.argv[-1].split("==")
if name == os.environ.get("MISSING"):
    sys.exit("no connection")
folder = pathlib.Path(sys.argv[sys.argv.index("--dest") + 1])
stem = name.replace("-", "_") + "-" + version.replace("*", "7")
file = folder / (stem + "-py3-none-any.whl")
if name == os.environ.get("DAMAGED"):
    file.write_text("half of a package")
    sys.exit(0)
with zipfile.ZipFile(file, "w") as wheel:
    for path in FILES.get(name, []):
        wheel.writestr(path, "#!/bin/sh\\necho Cuda compilation tools, release 13.0\\n")
    wheel.writestr(stem + ".dist-info/licenses/License.txt", "terms of " + name)
"""
PACKAGES = """nvidia-cuda-nvcc==13.0.* nvidia-nvvm==13.0.* nvidia-cuda-crt==13.0.*
nvidia-cuda-runtime==13.0.* nvidia-cuda-cccl==13.0.* nvidia-cuda-nvrtc==13.0.* nvidia-cublas==13.1.0.*
nvidia-cudnn-cu13==9.19.* nvidia-nccl-cu13==2.28.*""".split()


class Copy:
    """A folder with the copy, and programs that replace the machine's."""

    def __init__(self, folder, driver):
        self.folder = pathlib.Path(folder)
        self.log = self.folder / "log"
        self.cuda = self.folder / "build/cuda"
        programs = self.folder / "programs"
        (self.folder / "kernels/cuda").mkdir(parents=True)
        (self.folder / "pip").mkdir()
        programs.mkdir()
        # The toolkit of the machine on which the test runs is hidden.
        text = (SOURCE / "setup").read_text().replace("/usr/local/cuda/", "/nowhere/")
        self.write(self.folder / "setup", text.replace("/dev/nvidiactl", "/nowhere"))
        shutil.copy(SOURCE / "kernels/cuda/toolkit.py", self.folder / "kernels/cuda")
        self.write(self.folder / "pip/__main__.py", PIP)
        self.write(self.folder / "pip/__init__.py", "")
        for tool in TOOLS + ["touch"]:
            (programs / tool).symlink_to(shutil.which(tool))
        for name, text in {"meson": MESON, "nvidia-smi": NVIDIA_SMI}.items():
            if driver or name != "nvidia-smi":
                self.write(programs / name, text)
        for name in "ninja", "pkg-config", "cc":
            self.write(programs / name, "#!/usr/bin/env bash\n")
        self.environment = {"PATH": str(programs), "LOG": str(self.log), "CUDA": "13.0",
                            "CAPABILITIES": "9.0", "HOME": folder, "PYTHONPATH": folder,
                            "PYTHONDONTWRITEBYTECODE": "1"}

    def write(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def run(self, *arguments, answer=None, **settings):
        """Runs setup; with an answer on a terminal. Returns its status, messages and log."""
        self.log.write_text("")
        environment = self.environment | settings
        command = [self.folder / "setup", *arguments]
        if answer is None:
            run = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=60)
            return run.returncode, run.stdout + run.stderr, self.log.read_text()
        ours, theirs = pty.openpty()
        with subprocess.Popen(command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
                              start_new_session=True) as process:
            os.close(theirs)
            os.write(ours, answer.encode())
            text = b""
            try:
                while part := os.read(ours, 4096):
                    text += part
            except OSError:
                pass  # the terminal's end
        os.close(ours)
        return process.returncode, text.decode(), self.log.read_text()

    def is_clean(self):
        return not self.cuda.exists() and not self.cuda.with_name("cuda.part").exists()


def asked(log):
    return [line.removeprefix("pip ") for line in log.splitlines() if line.startswith("pip ")]


def test_fetches(copy):
    status, text, log = copy.run("build", CAPABILITIES="9.0 8.0 9.0 7.5")
    assert status == 0 and asked(log) == PACKAGES, text
    assert "1.2 GB" in text and f"CUDA: {copy.cuda}/bin/nvcc, release 13.0" in text, text
    assert "-Dcuda-architectures=80,90" in log, log
    for program in "bin/nvcc", "nvvm/bin/cicc":
        assert os.access(copy.cuda / program, os.X_OK), program
    for link, library in {"libcublasLt.so": "libcublasLt.so.13", "libcudnn.so": "libcudnn.so.9",
                          "libnccl.so": "libnccl.so.2"}.items():
        assert os.readlink(copy.cuda / "lib" / link) == library
    names = {path.name for path in copy.cuda.rglob("*")}
    assert not names & {"__init__.py", "sizes.txt", "nccl.h"}, names
    assert "nvidia-cudnn-cu13 9.19.7" in (copy.cuda / "versions").read_text().splitlines()
    assert "nvidia-nvvm" in (copy.cuda / "licenses/nvidia_nvvm-13.0.7.txt").read_text()
    assert not copy.cuda.with_name("cuda.part").exists()
    status, text, log = copy.run("build", CAPABILITIES="9.0 8.0")
    assert status == 0 and log == "", log  # nothing is downloaded or configured again
    status, text, log = copy.run("build")
    assert "-Dcuda-architectures=90 " in log + " " or "-Dcuda-architectures=90\n" in log, log


def test_offline(copy):
    for settings in {"MISSING": "nvidia-cuda-nvcc"}, {"MISSING": "nvidia-nccl-cu13"}, \
            {"DAMAGED": "nvidia-cublas"}:
        status, text, log = copy.run("build", **settings)
        assert status == 0 and "the CPU is used" in text and "./setup cuda adds it" in text, text
        assert copy.is_clean()
        status, text, log = copy.run("cuda", **settings)
        assert status == 1 and copy.is_clean(), text


def test_old_driver(copy):
    status, text, log = copy.run("build", CUDA="12.8")
    assert status == 0 and asked(log) == [] and copy.is_clean(), text
    assert "supports CUDA 12.8, 13.0 is needed; update the driver to 580 or newer" in text, text


def test_newer_driver(copy):
    status, text, log = copy.run("build", CUDA="13.2", CAPABILITIES="12.0")
    assert status == 0 and asked(log) == PACKAGES and "-Dcuda-architectures=120" in log, text


def test_old_gpu(copy):
    status, text, log = copy.run("build", CAPABILITIES="7.5")
    assert status == 0 and asked(log) == [] and "cuda-architectures" not in log, log
    assert "compute capability 7.5; the kernels need 8.0 or newer" in text, text


def test_ci(copy):
    status, text, log = copy.run("build", CI="1")
    assert status == 0 and asked(log) == [] and copy.is_clean(), text
    assert "./setup cuda adds it later" in text, text


def test_terminal(copy):
    status, text, log = copy.run("build", answer="n\n")
    assert status == 0 and asked(log) == [] and "./setup cuda adds it later" in text, text
    status, text, log = copy.run("build", answer="\n")
    assert status == 0 and asked(log) == PACKAGES, text
    assert "meson setup --reconfigure build" in log, log


def test_without_driver(copy):
    status, text, log = copy.run("build")
    assert status == 0 and asked(log) == [] and "cuda-architectures" not in log, log
    status, text, log = copy.run("cuda", CI="1")
    assert status == 0 and asked(log) == PACKAGES and "nvidia-cublas 13.1.0.7" in text, text
    status, text, log = copy.run("cuda")
    assert status == 0 and log == "" and "nvidia-cublas 13.1.0.7" in text, text
    status, text, log = copy.run("build")
    assert "meson setup --reconfigure build" in log, log


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    print(f"1..{len(tests)}")
    for n, (name, test) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Copy(folder, name != "test_without_driver"))
                print(f"ok {n} - {name[5:]}")
            except AssertionError as error:
                line = error.__traceback__.tb_next.tb_lineno
                details = "".join(f"# {text}\n" for text in str(error).splitlines())
                print(f"not ok {n} - {name[5:]} at line {line}\n{details}", end="")


if __name__ == "__main__":
    main()
