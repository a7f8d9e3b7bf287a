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

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);

int napi_create_function(napi_env env, const char *name, size_t length, napi_callback cb,
			 void *data, napi_value *result);
int napi_set_named_property(napi_env env, napi_value object, const char *name, napi_value value);
napi_value napi_register_module_v1(napi_env env, napi_value exports);

#define KEPT	64U

static napi_value keep(napi_env env, napi_callback_info info)
{
	char *p = keep_record();

	(void)env;
	(void)info;
	p[1] = 1;	/* no tail call */
	return NULL;
}

/* The twin's keep(), which drops the oldest one */
static napi_value turn(napi_env env, napi_callback_info info)
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

static napi_value use(napi_env env, napi_callback_info info)
{
	unsigned int i;

	(void)env;
	(void)info;
	for (i = 0; i < 10; i++)
		use_record();
	return NULL;
}

__attribute__((visibility("default")))
napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
	static const struct {
		const char *name;
		napi_callback f;
	} functions[] = { { "keep", keep }, { "turn", turn }, { "use", use } };
	napi_value f;
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (napi_create_function(env, functions[i].name, (size_t)-1, functions[i].f, NULL, &f) ||
		    napi_set_named_property(env, exports, functions[i].name, f))
			abort();
	}
	return exports;
}
