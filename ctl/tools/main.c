// SPDX-License-Identifier: GPL-2.0
/*
 * main() of every tool. The Makefile compiles this file once for each tool, with TOOL
 * defined as its struct command.
 */
#include "tools.h"

int main(int argc, char **argv)
{
	return tool_main(&TOOL, argc, argv);
}
