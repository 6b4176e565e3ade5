#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests the commands of README.md on fresh Debian systems with only git and certificates, each in a
# temporary folder with a clone of the committed tree.
set -uo pipefail

usage () {
  cat <<'END'
Usage: tests/bare.sh [bookworm-run] [bookworm-test|bookworm-plain] [trixie-user] [bookworm-cuda]
                     [bookworm-packages]

  bookworm-run    Debian 12, as root: ./setup run, which trains without a display
  bookworm-test   the same system afterwards, or a fresh one: ./setup test
  bookworm-plain  likewise, without sanitizers and fuzzing: ./setup test plain
  bookworm-cuda   Debian 12 with a pretended NVIDIA driver: ./setup build, which downloads 1.2 GB of
                  the CUDA toolkit by pip, with pip's settings of this machine; needs 10 GB
  trixie-user     Debian 13: ./setup run as an ordinary user with sudo
  bookworm-packages
                  Debian 12: the packages of data/packaging/debian (tests/packages.sh)

Without arguments: bookworm-run, bookworm-test and trixie-user.

Needs root, debootstrap (installed with apt-get if possible) and a network or a mirror in apt's
configuration. Mirror and proxy are those of this machine. LIGATURE_BARE_LOGS names a folder for the
logs and, in build-test, the results of ./setup test. Prints TAP; if no system can be made, all tests
are skipped with the reason.

The user's cache folder keeps an archive of each fresh system for a month, and what ccache compiled.
END
}

case "${1:-}" in -h | --help) usage; exit ;; esac
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tries=("$@")
[ $# -gt 0 ] || tries=(bookworm-run bookworm-test trixie-user)

# The namespaces end with this script, and with them every process and mount that it started.
if [ -z "${LIGATURE_BARE_INSIDE:-}" ]; then
  skip () { echo "1..0 # SKIP $*"; exit 0; }
  [ "$(id -u)" = 0 ] || skip 'only root can make a bare system'
  if ! command -v debootstrap > /dev/null && command -v apt-get > /dev/null; then
    { apt-get -qq update && apt-get -qq -y --no-install-recommends install debootstrap; } >&2
  fi
  command -v debootstrap > /dev/null || skip 'debootstrap is not installed'
  unshare --mount --pid --fork true 2> /dev/null || skip 'namespaces cannot be made here'
  export LIGATURE_BARE_INSIDE=1
  exec unshare --mount --pid --fork --kill-child "${BASH_SOURCE[0]}" "${tries[@]}"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/ligature-bare-XXXXXX")
logs=${LIGATURE_BARE_LOGS:-$work/logs}
kept=${XDG_CACHE_HOME:-$HOME/.cache}
mkdir -p "$logs" "$kept/ligature" "${CCACHE_DIR:=$kept/ccache}"
trap 'umount -R "$work"/bookworm "$work"/trixie 2> /dev/null; rm -rf --one-file-system "$work"' EXIT

# --- This machine's apt settings --------------------------------------------------------------

# The mirror from which apt gets this system's packages; it also has the other release.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Created-By: Packages' \
  2> /dev/null | awk '$2 == "Debian" && $3 == "Debian" { print $1; exit }')
# Prints apt's settings of proxies, certificates and time limits.
apt_settings () {
  apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries|ForceIPv)[A-Za-z0-9:-]* "[^"]+' || true
}
proxy=$(apt-config dump Acquire::http::Proxy | sed -n 's/.*"\(.*\)";/\1/p')

# --- A system and its commands ----------------------------------------------------------------

# unpack RELEASE ROOT: a bare system, from the archive that the first call makes.
unpack () {
  local archive=$kept/ligature/$1.tar
  if [ -z "$(find "$archive" -mtime -30 2> /dev/null)" ]; then
    http_proxy=${http_proxy:-$proxy} debootstrap --variant=minbase --include=git,ca-certificates \
      "$1" "$2" "$mirror" || return 1
    tar --one-file-system -C "$2" -cf "$archive.$$" . && mv "$archive.$$" "$archive"
  else
    mkdir "$2" && tar -C "$2" -xpf "$archive"
  fi
}

# make_system RELEASE: makes a folder below $work with a bare system and the clone in /ligature.
make_system () {
  local release=$1 root=$work/$1
  [ ! -d "$root" ] || return 0
  unpack "$release" "$root" || return 1
  apt_settings > "$root/etc/apt/apt.conf.d/90ligature-bare"
  # The system exists only for minutes, so dpkg need not sync packages to disk.
  echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/90ligature-bare"
  # Tests that mount something need a root that is a mount point.
  mount --bind "$root" "$root" || return 1
  mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || return 1
  mkdir "$root/ccache" && mount --bind "$CCACHE_DIR" "$root/ccache" || return 1
  # The mirror may need certificates that a local administrator added.
  cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2> /dev/null &&
    chroot "$root" update-ca-certificates
  # Debian's installer writes this file; without it each lookup of localhost asks a name server.
  [ -e "$root/etc/hosts" ] || echo '127.0.0.1 localhost' > "$root/etc/hosts"
  git clone -q --no-hardlinks "file://$source" "$root/ligature"
}

# inside RELEASE COMMAND...: runs as root with the environment of a first login and no display.
inside () {
  local root=$work/$1
  shift
  chroot "$root" env -i HOME=/root TERM=dumb CI=1 CCACHE_DIR=/ccache \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" < /dev/null
}

# as_person RELEASE COMMAND: runs as an ordinary user, in a clone in the user's home.
as_person () {
  inside "$1" apt-get -qq -y --no-install-recommends install sudo &&
    inside "$1" useradd --create-home --home-dir /person --shell /bin/bash person &&
    echo 'person ALL=(ALL) NOPASSWD: ALL' > "$work/$1/etc/sudoers.d/person" &&
    mv "$work/$1/ligature" "$work/$1/person/" &&
    inside "$1" chown -R person: /person/ligature &&
    inside "$1" su - person -c "cd ligature && CI=1 $2"
}

# Only a run that ended normally prints both lines.
trained () {
  grep -q 'this model ' "$1" && grep -q 'byte trigram' "$1"
}

bookworm_run () {
  make_system bookworm && inside bookworm sh -c 'cd /ligature && ./setup run' && trained "$log"
}

# test_in_bookworm [PART...]: keeps the results, also those of a failure.
test_in_bookworm () {
  local status=0 results=$work/bookworm/ligature/build-test/meson-logs/testlog.json
  make_system bookworm && inside bookworm sh -c "cd /ligature && ./setup test $*" || status=1
  [ ! -e "$results" ] || install -D -t "$logs/build-test/meson-logs" "$results"
  return $status
}

bookworm_test () {
  test_in_bookworm
}

bookworm_plain () {
  test_in_bookworm plain
}

# Prints pip's settings and the proxies, as arguments of env.
pip_settings () {
  env | grep -E '^(PIP_[A-Z_]+|[A-Za-z]+_(proxy|PROXY))=' || true
}

# Barely optimized kernels also prove that they compile. The fake driver has no functions: the
# module is loaded and finds its libraries, but no GPU.
bookworm_cuda () {
  local root=$work/bookworm settings
  make_system bookworm || return 1
  mapfile -t settings < <(pip_settings)
  cp /etc/pip.conf "$root/etc/" 2> /dev/null
  cat > "$root/usr/local/bin/nvidia-smi" <<'END'
#!/bin/sh
case "$*" in
  *compute_cap*) echo 9.0 ;;
  *) echo '| NVIDIA-SMI 580.65.06    Driver Version: 580.65.06    CUDA Version: 13.0 |' ;;
esac
END
  chmod +x "$root/usr/local/bin/nvidia-smi"
  inside bookworm env -u CI "${settings[@]}" sh -c 'cd /ligature && ./setup build -Dcuda-quick=true &&
    : | gcc -shared -x c - -o /usr/local/lib/libcuda.so.1 && ldconfig && du -sh build/cuda &&
    ls -l build/kernels/cuda/ligature-cuda.so && build/app/lig devices' &&
    grep -q 'cuBLASLt 13.* is /ligature/build/cuda/lib/' "$log" &&
    grep -q 'cuDNN 9.* is /ligature/build/cuda/lib/' "$log" &&
    grep -q 'NCCL 2.* is /ligature/build/cuda/lib/' "$log"
}

bookworm_packages () {
  make_system bookworm && inside bookworm sh -c 'cd /ligature && tests/packages.sh'
}

trixie_user () {
  make_system trixie && as_person trixie './setup run' && trained "$log"
}

# --- The tests --------------------------------------------------------------------------------

if [ -z "$mirror" ]; then
  echo '1..0 # SKIP apt has no mirror of Debian'
  exit 0
fi
failed=0 n=0
for try in "${tries[@]}"; do
  n=$((n + 1)) log=$logs/$try.log begun=$SECONDS
  case "$try" in
    bookworm-run | bookworm-test | bookworm-plain | bookworm-cuda | bookworm-packages | trixie-user) ;;
    *) usage >&2; exit 2 ;;
  esac
  if "${try//-/_}" > "$log" 2>&1; then
    echo "ok $n - $try ($((SECONDS - begun)) s)"
  else
    echo "not ok $n - $try ($((SECONDS - begun)) s)"
    # The failed tests come first: other test runs follow them in the log.
    { grep -E '\b(FAIL|ERROR|TIMEOUT)\b|^not ok|^# .*Error' "$log" | head -n 20
      tail -n 40 "$log"; } | sed 's/^/# /'
    failed=1
  fi
done
echo "1..$n"
exit $failed
