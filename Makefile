# SPDX-License-Identifier: GPL-2.0
# `make help` lists the targets. Those that need packages install them.

VERSION := $(shell cat VERSION)
PREFIX ?= /usr/local
KDIR ?= /lib/modules/$(shell uname -r)/build
build := $(CURDIR)/build
# The kernel that demo and test run in; a name of tests/lab/kernels.list.
LAB_KERNEL := 6.1

all: kmod ctl

## all: the module for the running kernel, and the controller
## kmod: the module for the running kernel, or KDIR=; build/kmod/host/seepage.ko
kmod:
	@tests/lab/setup build
	+@tests/lab/build-module host "$(KDIR)"

## kmod-NAME: the module for a kernel of tests/lab/kernels.list
kmod-%:
	@tests/lab/setup build
	+@kdir=$$(tests/lab/kernel $*) && tests/lab/build-module $* "$$kdir/headers"

## ctl: the controller, build/ctl/seepage
ctl:
	@tests/lab/setup build
	+@$(MAKE) --no-print-directory -C ctl O=$(build)/ctl

## progs: what the VM cases run; build/tests/
progs: $(patsubst tests/prog/%.c,$(build)/tests/%,$(wildcard tests/prog/*.c))
	+@[ ! -e tests/netlink/Makefile ] || \
		$(MAKE) --no-print-directory -C tests/netlink O=$(build)/tests
	+@$(MAKE) --no-print-directory -C tests/nlfuzz O=$(build)/tests

$(build)/tests/%: tests/prog/%.c
	@tests/lab/setup build
	@mkdir -p $(@D)
	$(CC) -O2 -g -Wall -Wextra -pthread $(progflags) -o $@ $<

# No run-time linking in each of a million lives.
$(build)/tests/churn $(build)/tests/relay: progflags := -static

## test-kmod-NAME: modules that only tests load; build/test-kmod/NAME/
test-kmod-%:
	@tests/lab/setup build
	+@kdir=$$(tests/lab/kernel $*) && tests/lab/build-module --test $* "$$kdir/headers"

## arm64-ctl, arm64-progs: the same for the arm64 VM, the controller static; build/arm64/
## riscv64-ctl, riscv64-progs: for the riscv64 VM; build/riscv64/
define foreign
$(1)-%:
	+@tests/lab/cross $(1) $$(MAKE) --no-print-directory $$* build=$$(build)/$(1) STATIC=1
endef
$(foreach arch,arm64 riscv64,$(eval $(call foreign,$(arch))))

## demo: finds a real leak in a VM, and leaves a harmless program alone
demo: kmod-$(LAB_KERNEL) ctl
	@tests/lab/setup vm
	@tests/demo/run

## test: everything a contributor must pass
test:
	+@tests/run

## matrix: the module for, and all VM cases on, every kernel; or KERNELS="A B"; RESUME=1
matrix:
	+@tests/matrix $(if $(RESUME),--resume) $(KERNELS)

## debug-kernels: VM cases and stress suite under KASAN, lockdep, kmemleak, KCSAN
debug-kernels:
	+@tests/matrix --debug $(if $(RESUME),--resume) $(KERNELS)

## stress: the stress suite; SEED=, ROUNDS= (1), LAB_KERNEL=
stress:
	+@tests/stress/run --kernel $(LAB_KERNEL) $(if $(SEED),--seed $(SEED)) $(if $(ROUNDS),--rounds $(ROUNDS))

## fuzz: parsers, detector and netlink; SECONDS= (600, for all), SEED=, LAB_KERNEL=
SECONDS ?= 600
fuzz:
	+@tests/fuzz/run --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) --kernel $(LAB_KERNEL)

## bench: what seepage costs beside its peers, and the budgets (about 15 min)
bench:
	+@tests/bench/run

## accuracy: what the detector finds and misses, beside its peers; CASES="A B", HALF=
accuracy:
	@tests/lab/setup build
	+@CASES="$(CASES)" HALF="$(HALF)" tests/accuracy/run

## pmu-events: the codes of hardware events against the lists that perf is built from
pmu-events:
	@tests/pmu-events/run

## corpus: the recorded series of tests/corpus, taken apart; build/corpus/
corpus:
	@tests/corpus/unpack

## check: style and static checks
check:
	@tests/lab/setup build check
	+@tests/check

## storm: 1000 loads and unloads under forks, execs and faults (about 20 min)
STORM ?= 1000
storm: kmod-$(LAB_KERNEL) ctl progs
	@tests/lab/setup vm
	tests/lab/vm --smp 2 --timeout 5400 --silence 5400 -- \
		env SEEPAGE_STORM=$(STORM) bash tests/cases/storm.sh

## fresh-test: demo and test on a new Debian, in a chroot (as root)
fresh-test:
	@tests/lab/setup fresh
	@tests/lab/fresh

## install: the controller and its manual, below PREFIX
install: ctl
	install -D -m 755 $(build)/ctl/seepage $(DESTDIR)$(PREFIX)/bin/seepage
	for page in $(wildcard docs/*.8); do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man8/$${page##*/} || exit; \
	done

## dkms-install: the module through DKMS; with DESTDIR only its source
dkms_source = $(DESTDIR)/usr/src/seepage-$(VERSION)
dkms-install:
	@[ -n "$(DESTDIR)" ] || tests/lab/setup dkms
	[ -n "$(DESTDIR)" ] || ! [ -d $(dkms_source) ] || dkms remove seepage/$(VERSION) --all || true
	rm -rf $(dkms_source)
	mkdir -p $(dkms_source)
	cp -r kmod include VERSION $(dkms_source)
	sed 's/@VERSION@/$(VERSION)/' dkms/dkms.conf >$(dkms_source)/dkms.conf
	[ -n "$(DESTDIR)" ] || dkms install seepage/$(VERSION)

## deb: Debian packages of controller and module source; build/deb/
deb:
	@tests/lab/setup deb
	@debian/make-deb $(build)/deb

## uninstall: what install and dkms-install did
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/seepage $(DESTDIR)$(PREFIX)/share/man/man8/seepage*.8
	[ -n "$(DESTDIR)" ] || ! [ -d $(dkms_source) ] || dkms remove seepage/$(VERSION) --all
	rm -rf $(dkms_source)

## clean: removes build/
clean:
	rm -rf build

help:
	@sed -n 's/^## /  /p' $(MAKEFILE_LIST)

.PHONY: pmu-events corpus fuzz bench accuracy storm matrix debug-kernels stress all kmod ctl progs demo test check fresh-test install dkms-install deb uninstall clean help
