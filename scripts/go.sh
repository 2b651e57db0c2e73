#!/usr/bin/env bash
# Prints the folder of a `go` that builds cloud/: the machine's own if it is new enough, else the pinned one, which is
# fetched into .go once. It comes from the proxy of Go modules, as Go's own `toolchain` lines have it, and is checked by
# its digest.
#   PATH="$(scripts/go.sh):$PATH"
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=1.26.0  # As in cloud/go.mod.
pinned=1.26.8

new_enough() { # The oldest of the two is the wanted one.
  local version
  version=$("$1" env GOVERSION 2>/dev/null) || return 1
  [ "$(printf '%s\n' "$wanted" "${version#go}" | sort -V | head -n 1)" = "$wanted" ]
}

for go in "$(command -v go || true)" /usr/local/go/bin/go .go/bin/go; do
  if [ -x "$go" ] && new_enough "$go"; then
    cd "$(dirname "$go")" && pwd
    exit
  fi
done

case $(uname -sm) in
  "Linux x86_64") arch=amd64 digest=30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7 ;;
  "Linux aarch64") arch=arm64 digest=02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99 ;;
  *) echo "error: no Go $pinned is pinned for $(uname -sm); install Go $wanted or newer" >&2; exit 1 ;;
esac
name=v0.0.1-go$pinned.linux-$arch
echo "setup: Go $pinned in .go" >&2
fetched=$(mktemp -d ./.go.XXXXXX)
trap 'rm -rf "$fetched"' EXIT
curl -fsSL --retry 3 -o "$fetched/go.zip" "https://proxy.golang.org/golang.org/toolchain/@v/$name.zip"
echo "$digest  $fetched/go.zip" | sha256sum --check --quiet
python3 -m zipfile -e "$fetched/go.zip" "$fetched"
tree=$fetched/golang.org/toolchain@$name
chmod +x "$tree"/bin/* "$tree"/pkg/tool/*/*  # Zip files of modules have no modes.
rm -rf .go
mv "$tree" .go
cd .go/bin && pwd
