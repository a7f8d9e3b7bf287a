// SPDX-License-Identifier: GPL-2.0
/* Instantiates the trace events of trace.h; no other file may. */
#define CREATE_TRACE_POINTS
#include "trace.h"
