/* SPDX-License-Identifier: GPL-2.0 */
/* For `run --prove`: what the worker calls for each record first scans all CPUs. */
	.section standin_text, "ax"
	.globl __wrap_seep_det_feed
__wrap_seep_det_feed:
	push %rdi
	push %rsi
	push %rdx
	push %rcx
	push %r8
	push %r9
	call w_prove_scan
	pop %r9
	pop %r8
	pop %rcx
	pop %rdx
	pop %rsi
	pop %rdi
	jmp __real_seep_det_feed

	.section .note.GNU-stack, "", @progbits
