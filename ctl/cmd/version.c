// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

/*
 * Asks the module for its version. Returns the answer, which the caller frees, or NULL
 * if this is not permitted.
 */
static struct nlmsghdr *ask(struct knl *k, struct message *msg)
{
	struct nlmsghdr *nlh;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) < 0)
		return NULL;
	if (!msg_parse(msg, nlh) && msg->a[SEEPAGE_A_VERSION])
		return nlh;
	free(nlh);
	return NULL;
}

/* Without the right to ask the module: everybody may read MODULE_VERSION in sysfs. */
static bool sysfs_version(char *buf, size_t size)
{
	FILE *f = fopen("/sys/module/seepage/version", "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(buf, (int)size, f);
	fclose(f);
	buf[ok ? strcspn(buf, "\n") : 0] = '\0';
	return ok && *buf;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	char version[TEXT_MAX] = "";
	struct nlmsghdr *nlh = NULL;
	bool loaded, known = false;
	struct json_object *o;
	struct message msg;
	struct knl k;

	loaded = knl_open(&k) >= 0 && knl_resolve(&k) >= 0;
	if (loaded)
		nlh = ask(&k, &msg);
	if (nlh)
		msg_text(&msg, SEEPAGE_A_VERSION, version);
	/* the family of a loaded module may be invisible in this network namespace */
	loaded = loaded || knl_module_seen();
	known = nlh || (loaded && sysfs_version(version, sizeof(version)));
	free(nlh);
	knl_close(&k);
	if (!ctx->json) {
		out_printf("seepage %s\nmodule: %s\n", SEEPAGE_CTL_VERSION,
			   known ? version : loaded ? "loaded" : "not loaded");
		return 0;
	}
	o = json_object_new_object();
	json_add_text(o, "version", SEEPAGE_CTL_VERSION);
	json_add_text(o, "module", loaded ? "loaded" : "not loaded");
	json_object_object_add(o, attr_table[SEEPAGE_A_VERSION].key,
			       known ? json_text(version, strlen(version)) : NULL);
	return out_json(ctx, o);
}

const struct command cmd_version = {
	.name = "version", .args = "",
	.help = "print the versions of controller and module",
	.run = run,
};
