#!/usr/bin/env bash
# What is written in Go: `scripts/cloud.sh build|lint|test|protos`.
#   build    target/release/rackloom-registry
#   lint     formatting, generated code, vet, staticcheck; needs no network once the modules are there
#   test     all tests, with 100 kills of real processes; with the detector of data races where there is a C compiler
#   protos   writes the API's code from its .proto files
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$(scripts/go.sh):$PATH"
target=${CARGO_TARGET_DIR:-$PWD/target}/release
cd cloud
case ${1:-} in
  build)
    # Without cgo the binary runs on any Linux.
    CGO_ENABLED=0 go build -trimpath -o "$target/rackloom-registry" ./cmd/rackloom-registry
    ;;
  lint)
    unformatted=$(gofmt -l . ../workloads/function)
    [ -z "$unformatted" ] || { echo "error: gofmt would change $unformatted" >&2; exit 1; }
    go mod verify >/dev/null
    go run ./internal/apigen -check
    go vet ./...
    (cd ../workloads/function && go vet ./...)
    go vet -tags planted ./internal/store
    go tool staticcheck ./...
    ;;
  test)
    [ -n "${RACKLOOM_PROMETHEUS:-}" ] ||
      echo "skipped: measurements from a real Prometheus; name its binary in RACKLOOM_PROMETHEUS"
    race=()
    if command -v gcc >/dev/null; then race=(-race); else echo "skipped: the detector of data races; install gcc"; fi
    go test "${race[@]}" -count=1 ./...
    ;;
  protos) go run ./internal/apigen ;;
  *) echo "usage: scripts/cloud.sh build|lint|test|protos" >&2; exit 2 ;;
esac
