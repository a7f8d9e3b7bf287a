/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks in a program's own code that tests/bench/insns.c, a plugin of QEMU,
 * counts the instructions between: a no-op of x86 with a number in it that no
 * compiler writes. Outside of such a QEMU they do nothing.
 */
#ifndef INSNS_H
#define INSNS_H

#define MARK_MAGIC	0x5ee90000u

enum {
	MARK_BEGIN = 1,	/* of a stretch, on this CPU */
	MARK_END,	/* of it, on the same CPU */
	MARK_TELL,	/* the plugin writes the stretches of each CPU, and forgets them */
};

/* nopl MAGIC + kind(%rax) */
#define mark(kind) \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80; .long %c0" \
			 : : "i"(MARK_MAGIC | (kind)) : "memory")

#endif
