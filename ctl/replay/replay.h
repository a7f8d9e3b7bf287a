/* SPDX-License-Identifier: GPL-2.0 */
/* What tools/replay.c, which feeds the detector, asks of replay/show.c, which prints. */
#ifndef SEEPAGE_CTL_REPLAY_H
#define SEEPAGE_CTL_REPLAY_H

#include "series/series.h"

struct merge_told;

struct json_object *replay_identity(const struct series *s);
void replay_print(const struct ctx *ctx, u64 clock_ns, const struct series *s,
		  const struct seep_det *det, const struct seep_verdict *v,
		  const struct seep_conf *conf, u8 prev);
void replay_alert(const struct ctx *ctx, const struct merge_told *t);
void replay_difference(const struct ctx *ctx, const struct series_reader *r,
		       const struct series *s, const struct seep_verdict *v);

#endif /* SEEPAGE_CTL_REPLAY_H */
