# SPDX-License-Identifier: GPL-2.0
# `make help` lists the targets. What builds installs no packages, it names those that
# are missing; the targets that test install what they need.

VERSION := $(shell cat VERSION)
PREFIX ?= /usr/local
KDIR ?= /lib/modules/$(shell uname -r)/build
build := $(CURDIR)/build
# The kernel that demo and test run in; a name of scripts/kernels.list.
LAB_KERNEL := 6.1

all: kmod ctl
# One message for both.
all: needs := kmod ctl

## all: the module for the running kernel, and the controller
## kmod: the module for the running kernel, or KDIR=; build/kmod/host/seepage.ko
kmod:
	@scripts/setup --check $(or $(needs),kmod)
	+@scripts/build-module host "$(KDIR)"

## kmod-NAME: the module for a kernel of scripts/kernels.list
kmod-%:
	@scripts/setup --check kmod
	+@kdir=$$(scripts/kernel $*) && scripts/build-module $* "$$kdir/headers"

## ctl: the controller, build/ctl/seepage, and its tools, build/ctl/tools/
ctl:
	@scripts/setup --check $(or $(needs),ctl)
	+@$(MAKE) --no-print-directory -C ctl O=$(build)/ctl PREFIX=$(PREFIX)

## deps: installs the Debian packages that a build needs, and man; with sudo when not root
deps:
	@scripts/setup kmod ctl man

## progs: what the VM cases run; build/tests/
# Those in C++, and of musl, are for cases that run on x86 only.
progs_x86 := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),newleak anynew requests anyleak-musl)
progs: $(build)/tests/anyleak-static $(patsubst tests/prog/%.c,$(build)/tests/%,$(wildcard tests/prog/*.c)) $(addprefix $(build)/tests/,$(progs_x86))
	+@[ ! -e tests/netlink/Makefile ] || \
		$(MAKE) --no-print-directory -C tests/netlink O=$(build)/tests
	+@$(MAKE) --no-print-directory -C tests/nlfuzz O=$(build)/tests

$(build)/tests/%: tests/prog/%.c
	@scripts/setup build
	@mkdir -p $(@D)
	$(CC) -O2 -g -Wall -Wextra -pthread $(progflags) -o $@ $<

$(build)/tests/newleak $(build)/tests/anynew: $(build)/tests/%: tests/prog/%.cc
	@scripts/setup build
	@mkdir -p $(@D)
	$(CXX) -O2 -g -Wall -Wextra $(progflags) -o $@ $<

# Programs whose allocators are linked in, or that of another C library
$(build)/tests/anyleak-static: tests/prog/anyleak.c
	@scripts/setup build
	@mkdir -p $(@D)
	$(CC) -O2 -g -Wall -Wextra -static -o $@ $<

$(build)/tests/anyleak-musl: tests/prog/anyleak.c
	@scripts/setup build
	@mkdir -p $(@D)
	musl-gcc -O2 -g -Wall -Wextra -o $@ $<

$(build)/tests/requests: tests/demo/requests.cc
	@mkdir -p $(@D)
	$(CXX) -O2 -g -Wall -Wextra -o $@ $<

# No run-time linking in each of a million lives.
$(build)/tests/churn $(build)/tests/mayfly $(build)/tests/relay: progflags := -static
# A 32-bit program where the compiler makes x86 ones; it needs no 32-bit libraries.
$(build)/tests/narrow: progflags = $(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),-m32 \
	-nostdlib -static -fno-pie -no-pie -ffreestanding -fno-stack-protector)
$(build)/tests/dumpers: tests/prog/held.h
# They speak to a module.
$(build)/tests/dumpers $(build)/tests/bursts: progflags := -Iinclude/uapi

## test-kmod-NAME: modules that only tests load; build/test-kmod/NAME/
test-kmod-%:
	@scripts/setup build
	+@kdir=$$(scripts/kernel $*) && scripts/build-module --test $* "$$kdir/headers"

## arm64-ctl, arm64-progs: the same for the arm64 VM, the controller static; build/arm64/
## armhf-ctl, armhf-progs: for the armhf VM; build/armhf/
## riscv64-ctl, riscv64-progs: for the riscv64 VM; build/riscv64/
## s390x-ctl: for the order of bytes; build/s390x/
define foreign
$(1)-%:
	+@scripts/cross $(1) $$(MAKE) --no-print-directory $$* build=$$(build)/$(1) STATIC=1
endef
$(foreach arch,arm64 armhf riscv64 s390x,$(eval $(call foreign,$(arch))))

## demo: finds a real leak in a VM and names its function; leaves harmless programs alone
demo:
	@scripts/setup build vm
	+@$(MAKE) --no-print-directory kmod-$(LAB_KERNEL) ctl $(build)/tests/requests
	@tests/demo/run

## test: everything a contributor must pass
test:
	@tests/run

## quick: what finds most in three minutes, for the inner loop
quick:
	@tests/run --quick

## matrix: the module for, and all VM cases on, every kernel; or KERNELS="A B"; RESUME=1
matrix:
	@tests/matrix $(if $(RESUME),--resume) $(KERNELS)

## debug-kernels: VM cases and stress suite under KASAN, lockdep, kmemleak, KCSAN
debug-kernels:
	@tests/matrix --debug $(if $(RESUME),--resume) $(KERNELS)

## stress: the stress suite; SEED=, ROUNDS= (1), LAB_KERNEL=
stress:
	@tests/stress/run --kernel $(LAB_KERNEL) $(if $(SEED),--seed $(SEED)) $(if $(ROUNDS),--rounds $(ROUNDS))

## latency: the worst latency of a real-time task with and without the module; ROUNDS= (1)
latency:
	@tests/stress/run --kernel 6.1-rt $(if $(ROUNDS),--rounds $(ROUNDS)) latency

## mm-selftests: the kernel's selftests of memory management beside readers, on a debug kernel
MM_KERNEL ?= 6.12-kasan
mm-selftests:
	@tests/stress/run --kernel $(MM_KERNEL) selftests

## selftests: builds them from the sources of a kernel; build/selftests/
selftests:
	@scripts/setup build
	@tests/stress/build-selftests

## endian: module and controller for s390x, and what its replay says of the recordings
endian:
	@tests/endian

## older: compiles the module against the sources of kernels; TREES="DIR DIR"
older:
	@scripts/setup build
	@tests/older $(TREES)

## lockdown: the core cases on a kernel that is locked down, on both levels; LAB_KERNEL=
lockdown:
	@tests/lockdown --kernel $(LAB_KERNEL)

## mutants: takes one mending out at a time: does its test fail? NAMES="A B", LAB_KERNEL=
mutants:
	@tests/mutants/run --kernel $(LAB_KERNEL) $(NAMES)

## fuzz: parsers, detector and netlink; SECONDS= (600, for all), SEED=, LAB_KERNEL=
SECONDS ?= 600
fuzz:
	@tests/fuzz/run --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) --kernel $(LAB_KERNEL)

## bench: what seepage costs beside its peers, and the budgets (about 15 min)
bench:
	@tests/bench/run

## scale: what a machine of 256 CPUs and 100 000 processes sees, simulated (two minutes)
scale:
	@tests/scale/run

## accuracy: what the detector finds and misses, beside its peers; CASES="A B", HALF=
accuracy:
	@scripts/setup build
	@CASES="$(CASES)" HALF="$(HALF)" tests/accuracy/run

## noise: false alerts on public traces of production memory, and leaks added to them
noise:
	@scripts/setup build
	@tests/accuracy/noise

## where: finds the leak's function in programs with a known one, beside peers; NAMES="A B", WHERE_COUNT= (three hours)
where:
	@tests/where-bench/run $(NAMES)

## where-libc: what `seepage where` counts with the C libraries of Debian's suites; SUITES="A B" (four minutes)
where-libc: ctl
	@scripts/setup build
	@tests/where/libc/run $(SUITES)

## prometheus: rules, route and dashboard of contrib/ in a real Prometheus; HOSTS= (100)
prometheus:
	@tests/prometheus/run $(or $(HOSTS),100)

## notify-peers: seepage notify with a real Alertmanager and a real journald
notify-peers: ctl
	@scripts/setup build notify
	@tests/notify/peers

## tour: every command of docs/tour.md, upgrade and purge, in a VM with systemd (as root)
tour:
	@tests/tour/run --kernel $(LAB_KERNEL)

## report-page: opens a page of report in headless Chromium; build/report/page.png
report-page:
	@scripts/setup build browser
	+@$(MAKE) --no-print-directory ctl
	@tests/report/run

## pmu-events: the codes of hardware events against the lists that perf is built from
pmu-events:
	@tests/pmu-events/run

## corpus: the recorded series of tests/corpus, taken apart; build/corpus/
corpus:
	@scripts/setup build
	@tests/corpus/unpack

## corpus-seeds: seeds 2 and 3 of the recordings, from the history; build/recorded/
corpus-seeds:
	@tests/corpus/seeds

## check: style and static checks
check:
	@scripts/setup build check
	@tests/check

## ynl: docs/netlink/seepage.yaml from the uapi header
ynl:
	@tests/netlink/ynl_spec.py --write

## house: long functions and files, call circles, and prose, of this checkout or DIR=
house:
	@scripts/house $(DIR)

## circle: the files of kmod/ and of ctl/ that call each other in a circle; fails if too many do
circle:
	@scripts/house --circle $(DIR)

## storm: 1000 loads and unloads under forks, execs and faults (about 20 min)
STORM ?= 1000
storm:
	@scripts/setup build vm
	+@$(MAKE) --no-print-directory kmod-$(LAB_KERNEL) ctl progs
	tests/lab/vm --smp 2 --timeout 5400 --silence 5400 -- \
		env SEEPAGE_STORM=$(STORM) bash tests/cases/storm.sh

## results: all that docs/results keeps, at a release (a day); NAMES="A B", RESUME=1
results:
	@tests/results $(if $(RESUME),--resume) $(NAMES)

## fresh-test: demo and test on a new Debian, in a chroot (as root)
fresh-test:
	@scripts/setup fresh
	@tests/lab/fresh

## install: the controller, its tools and manual, below PREFIX
tools = $(addprefix seepage-,$(shell sed -n 's/^tools := //p' ctl/Makefile))
libexec = $(DESTDIR)$(PREFIX)/libexec/seepage
completion = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/seepage
install: ctl
	install -D -m 755 $(build)/ctl/seepage $(DESTDIR)$(PREFIX)/bin/seepage
	install -d $(libexec)
	install -m 755 $(addprefix $(build)/ctl/tools/,$(tools)) $(libexec)
	install -D -m 644 completion/seepage.bash $(completion)
	for page in $(wildcard docs/man/*.[78]); do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit; \
	done

## install-units: the services for systemd and the rule for udev, below PREFIX
units = $(DESTDIR)$(PREFIX)/lib/systemd/system
rule = $(DESTDIR)$(PREFIX)/lib/udev/rules.d/60-seepage.rules
reload_units = [ -n "$(DESTDIR)" ] || ! [ -d /run/systemd/system ] || systemctl daemon-reload
install-units:
	install -d $(units)
	for unit in debian/*.service; do \
		sed 's,/usr/bin/seepage,$(PREFIX)/bin/seepage,' $$unit >$(units)/seepage-$${unit##*.seepage-} || exit; \
	done
	install -d $(dir $(rule))
	sed 's,/usr/bin/seepage,$(PREFIX)/bin/seepage,' debian/seepage.udev >$(rule)
	@$(reload_units)

## dkms-install: the module through DKMS, which is installed; with DESTDIR only its source
dkms_source = $(DESTDIR)/usr/src/seepage-$(VERSION)
dkms-install:
	@[ -n "$(DESTDIR)" ] || scripts/setup dkms
	@[ -n "$(DESTDIR)" ] || scripts/running-headers
	@[ -n "$(DESTDIR)" ] || ! [ -d $(dkms_source) ] || dkms remove seepage/$(VERSION) --all || true
	rm -rf $(dkms_source)
	mkdir -p $(dkms_source)
	cp -r kmod include VERSION $(dkms_source)
	sed 's/@VERSION@/$(VERSION)/' dkms/dkms.conf >$(dkms_source)/dkms.conf
	@[ -n "$(DESTDIR)" ] || dkms install seepage/$(VERSION)

## appliance: measures the smallest builds, writes docs/appliance.md; KERNELS="6.1 6.12 newest"
appliance:
	@scripts/setup build
	@scripts/appliance $(KERNELS)

## deb: Debian packages of everything, build/deb/; installs what their build needs
deb:
	@scripts/setup deb
	@debian/make-deb $(build)/deb

## rpm: RPM packages of everything, build/rpm/, and what is in them
rpm:
	@scripts/setup ctl rpm
	@tests/rpm $(build)/rpm

## uninstall: what install, install-units and dkms-install did
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/seepage
	for page in $(notdir $(wildcard docs/man/*.[78])); do \
		rm -f $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page; \
	done
	rm -f $(addprefix $(libexec)/,$(tools)) $(completion)
	rmdir $(libexec) 2>/dev/null || true
	for unit in debian/*.service; do rm -f $(units)/seepage-$${unit##*.seepage-}; done
	rm -f $(rule)
	@$(reload_units)
	[ -n "$(DESTDIR)" ] || ! [ -d $(dkms_source) ] || dkms remove seepage/$(VERSION) --all
	rm -rf $(dkms_source)

## clean: removes build/
clean:
	rm -rf build

help:
	@sed -n 's/^## /  /p' $(MAKEFILE_LIST)

.PHONY: noise appliance ynl house circle pmu-events corpus corpus-seeds fuzz bench accuracy storm matrix debug-kernels stress all kmod ctl progs demo test check fresh-test install install-units dkms-install deb uninstall clean help
.PHONY: rpm prometheus notify-peers report-page tour where where-libc deps quick results scale lockdown latency mm-selftests selftests endian older mutants
