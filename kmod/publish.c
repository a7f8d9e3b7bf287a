// SPDX-License-Identifier: GPL-2.0
/* The callbacks that publish what the pipeline finds; see publish.h. */
#include "publish.h"

const struct seep_publish_ops *seep_publish;
bool seep_series_on;
bool seep_samples_on;

/**
 * seep_publish_set() - set or clear the callbacks
 * @ops: callbacks from now on; NULL: none, and none runs any more on return
 *
 * Context: process, may sleep; takes seep_table_mutex.
 */
void seep_publish_set(const struct seep_publish_ops *ops)
{
	mutex_lock(&seep_table_mutex);
	seep_publish = ops;
	seep_series_on = false;
	seep_samples_on = false;
	mutex_unlock(&seep_table_mutex);
}
