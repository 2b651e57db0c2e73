# The few commands everything is done with. `make help` lists them.

CARGO ?= cargo
RACKLOOM = target/release/rackloom
BOARD = ecpix5

.DEFAULT_GOAL := help
.PHONY: help setup build mpi run test lint cloud protos gateware nightly mutants coverage synth bitstream bench programs cycles smpi hpcc sim clocks attacks forgeries collectives fuzz docs clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

setup: ## Install what building and testing need (Debian packages, a Python environment)
	@scripts/setup.sh

build: setup ## Build the release binaries
	$(CARGO) build --release --locked -p rackloom-cli -p rackloom-swarm -p rackloom-opencl -p rackloom-comm
	scripts/cloud.sh build

mpi: build ## The library that has cards do the collectives of MPI programs, for the mpicc on the path
	$(MAKE) -s -C crates/api/comm/mpi

run: build ## The main job: a rack of 20 emulated cards transposes and adds a real matrix, checked
	$(RACKLOOM) demo

lint: setup ## Formatting, lints, generated files; of Rust, of Go and of the gateware
	@scripts/test.sh lint

test: setup ## Lints and all tests, in the size of continuous integration; then where the time went
	@scripts/test.sh

cloud: setup ## What is written in Go: built, checked and tested
	scripts/cloud.sh build
	scripts/cloud.sh lint
	scripts/cloud.sh test

protos: setup ## The registry's API in Go, made from its .proto files
	scripts/cloud.sh protos

gateware: setup ## The gateware's benches and proofs
	scripts/gateware.sh

nightly: setup mutants coverage ## What `make test` has samples of: all benches, tops, faults, proofs, areas and firmware's tests; coverage
	RACKLOOM_GOLDEN=$$(scripts/golden.sh) .venv/bin/pytest -q -n 2 gateware/tb
	RACKLOOM_GOLDEN=$$(scripts/golden.sh) .venv/bin/python gateware/firmware/tests/run.py
	gateware/lint.sh
	gateware/formal/prove.py
	gateware/synth/synth.py --check

mutants: setup ## Faults planted into the gateware, one at a time: the benches have to find each (nightly)
	@RACKLOOM_GOLDEN=$$(scripts/golden.sh) .venv/bin/python gateware/mutation/mutate.py

coverage: setup ## Which lines of the gateware its benches run (nightly)
	@RACKLOOM_GOLDEN=$$(scripts/golden.sh) .venv/bin/python gateware/coverage.py

synth: setup ## Area and clock rates of the gateware's blocks, for three families of FPGAs
	gateware/synth/synth.py

bitstream: ## From source to a bitstream for a board: BOARD=ecpix5; OPTIONS="--mac ..."
	@scripts/bitstream.sh "$(BOARD)" $(OPTIONS)

bench: build ## Benchmarks: loading, round trips, remote memory, OpenCL natively and through a manager; the study of shared boards
	$(RACKLOOM) bench load
	$(RACKLOOM) bench rtt
	$(RACKLOOM) bench rma
	$(MAKE) -s -C workloads
	$(RACKLOOM) bench opencl-overhead
	$(RACKLOOM) study blastfunction-sharing

programs: build ## OpenCL programs that strangers wrote, natively and through a manager; 200 that start at once (an hour)
	scripts/programs.sh
	scripts/programs/burst.sh

cycles: setup ## Cycles of collectives on gateware that is joined to a mesh, all that the event model is compared with (nightly)
	RACKLOOM_GOLDEN=$$(scripts/golden.sh) MESH_ROWS=all .venv/bin/pytest -q gateware/tb/collectives/test_rl_collective_mesh.py

smpi: build ## The models of OPTWEB's operations beside SimGrid's SMPI (needs libsimgrid-dev)
	crates/check/study-optweb/smpi/compare.py $(RACKLOOM)

hpcc: mpi ## HPC Challenge, an MPI program that strangers wrote, with its collectives done by cards
	scripts/hpcc.sh

sim: build ## The nightly simulation: 20,000 seeds
	target/release/rackloom-swarm --seeds 20000

clocks: setup ## The conformance suite on gateware with each set of clocks (nightly)
	for set in 0 1 2 3; do RACKLOOM_CLOCKS=$$set $(CARGO) test --locked --workspace --test clocks || exit 1; done

attacks: setup ## Every attack on a manager from every place; RACKLOOM_CGROUP=DIR adds bounds (nightly)
	RACKLOOM_ATTACKS=all $(CARGO) test --locked --workspace --test attacks -- --nocapture

forgeries: setup ## 300 seeds of mixed attacks on gateware with keys, and on hosts that encrypt; all signatures on gateware (nightly)
	RACKLOOM_ATTACK_SEEDS=300 $(CARGO) test --locked --workspace --test forgery seeds_of_mixed_attacks -- --nocapture
	RACKLOOM_SIGNED=all $(CARGO) test --locked --workspace --test forgery gateware_runs_what -- --nocapture
	RACKLOOM_SIGNED=all $(CARGO) test --locked --workspace --test signed a_card_of_gateware -- --nocapture

collectives: setup ## 20 seeds of faults on groups of gateware, and each operation, type and size on two to four cards (nightly)
	RACKLOOM_FAULT_SEEDS=20 $(CARGO) test --locked --workspace --test group_faults gateware_ends_well -- --nocapture
	RACKLOOM_SIZES=all $(CARGO) test --locked --workspace --test groups gateware_does_what -- --nocapture

fuzz: setup ## Each fuzz target for a minute
	RACKLOOM_FUZZ_SECONDS=60 $(CARGO) test --locked --workspace --test targets -- --nocapture

docs: ## Build the book (installs mdbook once)
	@command -v mdbook >/dev/null || $(CARGO) install --locked mdbook
	mdbook build docs

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf .venv .venv-board .go out
