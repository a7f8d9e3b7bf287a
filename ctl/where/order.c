// SPDX-License-Identifier: GPL-2.0
/*
 * Which classes a burst is taken of, and in which order.
 */
#include "where/burst.h"

#define NEW_BLOCKS	3	/* that a class has to have, to come before those that have fewer */

/**
 * order_classes() - the class of --class, or those that grew most
 * @w: classes, by growth
 * @n: their number
 * @class_bytes: of --class; 0: none
 * @pools: those of pymalloc too
 * @row: out
 * @most: room in @row
 *
 * One that grew by one or two blocks comes last: it may be a large buffer, beside many small blocks
 * that leak.
 *
 * Return: how many.
 */
size_t order_classes(const struct where_row *w, size_t n, u64 class_bytes, bool pools,
		     const struct where_row **row, size_t most)
{
	size_t i, found = 0;
	unsigned int pass;
	bool many;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < n && found < most; i++) {
			many = w[i].growth_blocks >= NEW_BLOCKS;
			if (!pools && class_is_pool(w[i].id))
				continue;
			if (class_bytes ? class_serves(w[i].id, class_bytes) && !pass :
			    w[i].growth_bytes > 0 && many == !pass)
				row[found++] = &w[i];
		}
	return found;
}
