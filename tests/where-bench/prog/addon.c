// SPDX-License-Identifier: GPL-2.0
/*
 * What addon.js loads: the functions of keep.c as an addon of node. The declarations are those of
 * version 1 of Node-API, which does not change; so the addon needs no headers and fits every node.
 */
#include <stddef.h>
#include <stdlib.h>

char *keep_record(void);
void use_record(void);
void drop_record(char *p);

struct napi_env;
struct napi_value;
struct napi_info;

int napi_create_function(struct napi_env *env, const char *name, size_t length,
			 struct napi_value *(*f)(struct napi_env *env, struct napi_info *info),
			 void *data, struct napi_value **result);
int napi_set_named_property(struct napi_env *env, struct napi_value *object, const char *name,
			    struct napi_value *value);
struct napi_value *napi_register_module_v1(struct napi_env *env, struct napi_value *exports);

#define KEPT	64U

static struct napi_value *keep(struct napi_env *env, struct napi_info *info)
{
	char *p = keep_record();

	(void)env;
	(void)info;
	p[1] = 1;	/* no tail call */
	return NULL;
}

/* The twin's keep(), which drops the oldest one */
static struct napi_value *turn(struct napi_env *env, struct napi_info *info)
{
	static char *kept[KEPT];
	static unsigned int at;

	(void)env;
	(void)info;
	at = (at + 1) % KEPT;
	if (kept[at])
		drop_record(kept[at]);
	kept[at] = keep_record();
	return NULL;
}

static struct napi_value *use(struct napi_env *env, struct napi_info *info)
{
	unsigned int i;

	(void)env;
	(void)info;
	for (i = 0; i < 10; i++)
		use_record();
	return NULL;
}

__attribute__((visibility("default")))
struct napi_value *napi_register_module_v1(struct napi_env *env, struct napi_value *exports)
{
	static const struct {
		const char *name;
		struct napi_value *(*f)(struct napi_env *env, struct napi_info *info);
	} functions[] = { { "keep", keep }, { "turn", turn }, { "use", use } };
	struct napi_value *f;
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (napi_create_function(env, functions[i].name, (size_t)-1, functions[i].f, NULL,
					 &f) ||
		    napi_set_named_property(env, exports, functions[i].name, f))
			abort();
	}
	return exports;
}
