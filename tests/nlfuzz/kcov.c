// SPDX-License-Identifier: GPL-2.0
/*
 * Coverage by kcov of the kernel (Documentation/dev-tools/kcov.rst). Only the module is built
 * with it, so every recorded address belongs to the module.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/kcov.h>
#include "nlfuzz.h"

#define ENTRIES	(1 << 16)

static uint64_t *area;
static unsigned int pcs;

bool kcov_open(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	need(!ioctl(fd, KCOV_INIT_TRACE, ENTRIES), "KCOV_INIT_TRACE");
	area = mmap(NULL, ENTRIES * sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(area != MAP_FAILED, "mmap of kcov");
	need(!ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC), "KCOV_ENABLE");
	return true;
}

void kcov_start(void)
{
	if (area)
		__atomic_store_n(&area[0], 0, __ATOMIC_RELAXED);
}

bool kcov_stop(void)
{
	uint64_t i, n = area ? __atomic_load_n(&area[0], __ATOMIC_RELAXED) : 0;
	bool new = false;

	for (i = 1; i <= n && i < ENTRIES; i++) {
		if (seen_before(area[i]))
			continue;
		pcs++;
		new = true;
	}
	return new;
}

unsigned int kcov_pcs(void)
{
	return pcs;
}
