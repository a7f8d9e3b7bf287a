/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the compiled module expects beside C functions: thunks, string instructions, and
 * calls into user space with an aligned stack (kernel code keeps no 16 bytes).
 */

/* As on a processor that needs no mitigation; the returns themselves are patched. */
	.section standin_text, "ax"
	.irp reg, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	.globl __x86_indirect_thunk_\reg
__x86_indirect_thunk_\reg:
	jmp *%\reg
	.endr

	.globl __x86_return_thunk
__x86_return_thunk:
	ret

	.globl __fentry__
__fentry__:
	ret

	.globl __SCT__preempt_schedule, __SCT__preempt_schedule_notrace, __SCT__might_resched
__SCT__preempt_schedule:
__SCT__preempt_schedule_notrace:
__SCT__might_resched:
	ret

	.globl memset
memset:
	mov %rdi, %r9
	mov %esi, %eax
	mov %rdx, %rcx
	rep stosb
	mov %r9, %rax
	ret

	.globl memcpy, memmove
memmove:	/* forwards: world.c and the module move down only */
memcpy:
	mov %rdi, %rax
	mov %rdx, %rcx
	rep movsb
	ret

	.text
	.globl __SCT__cond_resched
__SCT__cond_resched:
	jmp others_run

	.irp name, set_gs, die, print, format, writable
	.globl k_\name
k_\name:
	push %rbp
	mov %rsp, %rbp
	and $-16, %rsp
	call u_\name
	leave
	ret
	.endr

	.section .note.GNU-stack, "", @progbits
