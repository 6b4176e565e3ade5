#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# generated.sh: checks, as TAP, the manual page and the completions that lig makes from its tables.
# The subtest of a shell or formatter that is not installed is skipped.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LIGATURE_STORE=$work/runs.db
n=0

# check NAME COMMAND...: one subtest; exit code 77 skips it, the output is its diagnosis.
check () {
  local name=$1 code
  shift
  n=$((n + 1))
  "$@" > log 2>&1
  code=$?
  case $code in
    0) echo "ok $n - $name" ;;
    77) echo "ok $n - $name # SKIP $(tail -n 1 log)" ;;
    *)
      echo "not ok $n - $name"
      sed 's/^/# /' log
      ;;
  esac
}

# needs PROGRAM: used as `needs zsh || return 77`.
needs () {
  command -v "$1" > /dev/null || { echo "$1 is not installed"; return 1; }
}

commands () {
  "$LIG" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# Prints the long options in a command's help text.
options_of () {
  "$LIG" "$1" --help | grep -oE '^  (-[a-z], )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' |
    grep -vx -- --help
}

manual_has_all () {
  local command option section general status=0
  general=$(awk '/^\.S/ { inside = $0 == ".SH OPTIONS" } inside' man | sed 's/\\-/-/g')
  [ "$(commands | wc -l)" -ge 10 ] || return 1
  for command in $(commands); do
    section=$(awk -v start=".SS lig $command " '
      index ($0, ".S") == 1 { inside = index ($0, start) == 1 } inside' man | sed 's/\\-/-/g')
    [ -n "$section" ] || { echo "no section of $command"; status=1; }
    for option in $(options_of "$command"); do
      grep -qF -- "$option" <<< "$section$general" || { echo "$command: no $option"; status=1; }
    done
  done
  grep -qF 'runs export RUN' man || status=1
  grep -qx 'Optimizer:' man || { echo "no group of options"; status=1; }
  grep -qF '[default: 1000]' man || { echo "no default"; status=1; }
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS COMMANDS 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES; do
    grep -qx "\.SH $section" man || { echo "no section $section"; status=1; }
  done
  return $status
}

# Each group title precedes an option.
manual_titles () {
  awk 'last == ".PP" && /^[A-Z][a-z]+:$/ { title = $0; next }
    title { titles++; if ($0 != ".TP") { print title, $0; wrong = 1 } title = "" }
    { last = $0 }
    END { exit wrong || titles < 20 }' man
}

# The date is that of the package build, never today's.
manual_date () {
  SOURCE_DATE_EPOCH=86400 "$LIG" --generate man | grep '^\.TH LIG 1 "1970-01-02" ' &&
    env -u SOURCE_DATE_EPOCH "$LIG" --generate man | grep '^\.TH LIG 1 "" ' &&
    SOURCE_DATE_EPOCH=soon "$LIG" --generate man | grep '^\.TH LIG 1 "" '
}

manual_formats () {
  needs groff || return 77
  groff -Wall -ww -man -Tutf8 -K utf8 man > page 2> warnings
  cat warnings
  [ ! -s warnings ] && grep -q 'an SQLite database' page
}

manual_lints () {
  needs mandoc || return 77
  # The generated page has no date.
  ! mandoc -T lint -W warning man | grep -v 'missing date'
}

# complete_line LINE: prints bash's completions at the end of the line, one per line.
complete_line () {
  COMP_LINE=$1
  COMP_POINT=${#COMP_LINE}
  COMPREPLY=()
  _lig "$LIG" '' ''
  printf '%s\n' "${COMPREPLY[@]}"
}

# offers LINE REPLY...: checks that all replies are offered and, if the last is `only`, no others.
offers () {
  local line=$1 reply all
  all=$(complete_line "$line" | sort)
  shift
  if [ "${*: -1}" = only ]; then
    set -- "${@:1:$#-1}"
    [ "$all" = "$(printf '%s\n' "$@" | sort)" ] || { echo "'$line' offers: $all"; return 1; }
  fi
  for reply; do
    grep -qxF -- "$reply" <<< "$all" || { echo "'$line' does not offer $reply: $all"; return 1; }
  done
}

bash_completes () {
  # shellcheck disable=SC1091
  . ./bash
  touch model.lig notes.txt weights.safetensors
  mkdir -p folder
  offers 'lig ' ops train --version && offers 'lig tr' train only &&
    offers 'lig ops ' layer-norm swiglu && offers 'lig ops rms' rms-norm only &&
    offers 'lig fuse mod' model.lig only && offers 'lig fuse ' model.lig folder linear &&
    ! offers 'lig fuse n' notes.txt && offers 'lig fuse model.lig --pol' --policy only &&
    offers 'lig fuse model.lig --policy ' none all measured only &&
    offers 'lig fuse model.lig --policy=m' measured only &&
    offers 'lig fuse model.lig --dtype ' fp32 fp16 bf16 &&
    offers 'lig fuse model.lig --forbid forward-linear-' forward-linear-bias-activation &&
    offers 'lig check model.lig --device c' cpu &&
    offers 'lig check model.lig --device null:h2' h200 only &&
    offers 'lig train model.lig --optimizer ' sgd adamw &&
    offers 'lig train model.lig --schedule c' constant cosine only &&
    offers 'lig train model.lig --data ' text tokens csv idx synthetic only &&
    offers 'lig train model.lig --data text:no' notes.txt only &&
    offers 'lig train model.lig --init wei' weights.safetensors only &&
    offers 'lig train model.lig --lr ' '' only &&
    offers 'lig report model.lig --format ' html json trace.json dot &&
    offers 'lig runs ' list show export && offers 'lig runs list --status ' done failed &&
    offers 'lig runs show ' last only && offers 'lig devices ' cpu
}

# Options precede the command, and a verb offers its own options and arguments.
bash_completes_verbs () {
  # shellcheck disable=SC1091
  . ./bash
  offers 'lig --j' --json only && offers 'lig --json fu' fuse only &&
    offers 'lig --device nul' null:h200 && offers 'lig --device cpu --json che' check only &&
    offers 'lig --device cpu check model.lig --dtype ' fp32 fp16 bf16 &&
    offers 'lig --color al' always only && offers 'lig he' help only &&
    offers 'lig help ' ops train runs && offers 'lig help runs s' show star only &&
    offers 'lig help train ' '' only && offers 'lig runs --json li' list only &&
    offers 'lig runs list --st' --store --status --starred only &&
    offers 'lig runs show --st' --store only && offers 'lig runs list ' '' only &&
    offers 'lig runs --store x.db show ' last only && offers 'lig runs compare last ' last only &&
    offers 'lig check model.lig ' '' only &&
    offers 'lig runs list --sort st' started status step step-time star steps only
}

# Completes every option of every command, and the runs of the store.
bash_completes_all () {
  # shellcheck disable=SC1091
  . ./bash
  local command option run
  for command in $(commands); do
    for option in $(options_of "$command"); do
      offers "lig $command $option" "$option" || return 1
    done
  done
  "$LIG" train 'linear(2) ! mean-squared-error' --input 4x2 --data synthetic --steps 1 \
    --device cpu || return 1
  run=$("$LIG" runs list --json | grep -oE '"run": "[^"]+' | cut -d'"' -f4)
  [ -n "$run" ] && offers "lig runs show ${run:0:6}" "$run" only && offers 'lig report ' "$run" last
}

zsh_reads () {
  needs zsh || return 77
  zsh -n zsh && grep -q '^#compdef lig$' zsh
}

# Types lines and the tab key in a zsh in its own terminal.
zsh_completes () {
  needs zsh || return 77
  mkdir -p bin functions
  ln -sf "$LIG" bin/lig
  cp zsh functions/_lig
  cat > type.zsh << 'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=P; PATH=$PWD/bin:\$PATH; fpath=($PWD/functions \$fpath); autoload -U compinit"
zpty -w z "compinit -u -D; unsetopt beep; bindkey '^I' complete-word; print rea''dy"
zpty -r z found '*ready*'
while IFS='|' read -r line reply; do
  zpty -w -n z "$line"$'\t'
  zpty -r z found "*$reply*"
  print -r -- "$reply"
  zpty -w -n z $'\x15'
done < lines
zpty -d z
END
  cat > lines << 'END'
lig ops rms|lig ops rms-norm
lig fuse x --policy=me|lig fuse x --policy=measured
lig --json che|lig --json check
lig runs sho|lig runs show
lig runs show --sto|lig runs show --store
lig help swe|lig help sweep
END
  # If a line is not completed, the test waits until the timeout.
  timeout 60 zsh -f type.zsh > replies
  cat replies
  cut -d '|' -f 2 lines | cmp - replies
}

fish_completes () {
  needs fish || return 77
  fish -n fish || return 1
  mkdir -p bin home
  ln -sf "$LIG" bin/lig
  HOME=$work/home PATH=$work/bin:$PATH fish -c 'source ./fish
    complete -C "lig ops rms"; complete -C "lig fuse m --policy "; complete -C "lig tr"
    complete -C "lig --json che"; complete -C "lig help swe"; complete -C "lig runs compa"
    complete -C "lig runs show --stat"; complete -C "lig runs list --stat"' > replies
  cat replies
  grep -q '^rms-norm' replies && grep -q '^measured' replies && grep -q '^train' replies &&
    grep -q '^check' replies && grep -q '^sweep' replies && grep -q '^compare' replies &&
    [ "$(grep -c '^--status' replies)" = 1 ]
}

rejects_others () {
  "$LIG" --generate csh
  [ $? = 2 ] || return 1
  "$LIG" --values NOTHING
  [ $? = 2 ]
}

for kind in man bash zsh fish; do
  "$LIG" --generate $kind > $kind || exit 1
done
check /generated/manual manual_has_all
check /generated/titles manual_titles
check /generated/date manual_date
check /generated/groff manual_formats
check /generated/mandoc manual_lints
check /generated/bash bash_completes
check /generated/bash-verbs bash_completes_verbs
check /generated/bash-all bash_completes_all
check /generated/zsh zsh_reads
check /generated/zsh-completes zsh_completes
check /generated/fish fish_completes
check /generated/rejected rejects_others
echo "1..$n"
