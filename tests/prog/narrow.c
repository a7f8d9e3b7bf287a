// SPDX-License-Identifier: GPL-2.0
/*
 * narrow KB SECONDS: a 32-bit program without a C library, on x86_64. Takes KB of memory every
 * SECONDS seconds, writes to it, and never uses it again. Elsewhere it ends with status 77.
 */
#ifdef __i386__
#define PAGE		4096UL
#define SYS_EXIT	1
#define SYS_NANOSLEEP	162
#define SYS_MMAP2	192
#define PROT_RW		3
#define MAP_PRIVATE_ANON	0x22

static long call(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	/* the sixth argument of mmap2 is in ebp, which is 0: an anonymous mapping has no offset */
	__asm__ volatile("push %%ebp\n\txor %%ebp, %%ebp\n\tint $0x80\n\tpop %%ebp"
			 : "=a" (ret) : "a" (nr), "b" (a), "c" (b), "d" (c), "S" (d), "D" (e)
			 : "memory");
	return ret;
}

static long number(const char *s)
{
	long v = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		v = 10 * v + *s - '0';
	return v;
}

__attribute__((used)) static void run(long argc, char **argv)
{
	unsigned long step = argc > 2 ? (unsigned long)number(argv[1]) << 10 : 0, i;
	long time[2] = { argc > 2 ? number(argv[2]) : 0, 0 }, p;

	while (step && time[0]) {
		p = call(SYS_MMAP2, 0, (long)step, PROT_RW, MAP_PRIVATE_ANON, -1);
		if (p < 0 && p > -4096)
			break;
		for (i = 0; i < step; i += PAGE)
			((volatile char *)p)[i] = 1;
		call(SYS_NANOSLEEP, (long)time, 0, 0, 0, 0);
	}
	call(SYS_EXIT, 1, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n\tmov (%esp), %eax\n\tlea 4(%esp), %edx\n\t"
	"push %edx\n\tpush %eax\n\tcall run");
#else
int main(void)
{
	return 77;
}
#endif
