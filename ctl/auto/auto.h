/* SPDX-License-Identifier: GPL-2.0 */
/*
 * watch --where: asks the tool `where` about processes under alert. The tool is a child, one
 * at a time, so that reading alerts goes on meanwhile. It takes a first look when a process
 * is suspected, a second one when it is confirmed, and keeps the answer (lib/kept.c). That at
 * most one process is looked at, and the limit of cost, hold for all `watch` of the machine:
 * the tool sees to both.
 */
#ifndef SEEPAGE_AUTO_H
#define SEEPAGE_AUTO_H

#include "ctl.h"

struct asker;

bool asker_word(const char *word);
struct asker *asker_new(const char *word);
void asker_alert(struct asker *a, const struct message *msg, bool multicast, bool shown);
int asker_fd(const struct asker *a);
struct json_object *asker_answer(struct asker *a, u64 *seq);
void asker_free(struct asker *a);

#endif /* SEEPAGE_AUTO_H */
