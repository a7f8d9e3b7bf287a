// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration: one struct that is replaced as a whole under RCU, so that readers see
 * values that were checked together. Module parameters and SET_CONFIG go through the same
 * checks.
 *
 * This is a store: it calls no other file but the check of pmc_events that it is given at
 * load. The request handler that changed a value informs those that must act on it.
 *
 * Context: readers anywhere; writers in process context. Locks: RCU for readers,
 * config_mutex for writers.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <net/netlink.h>
#include "seep.h"

struct seep_conf __rcu *seep_config;	/* never NULL after seep_config_init() */

#define WHY_BYTES	128	/* the longest text of check_events() has 125 */
#define TEXTS		8	/* refusals at the same time that keep their texts */

static DEFINE_MUTEX(config_mutex);	/* writers of seep_config */
static char *pmc_events;		/* config_mutex; never NULL after seep_config_init() */
static u32 pmc_events_nr = 1;		/* config_mutex; changes with the list */
static char (*texts)[WHY_BYTES];	/* config_mutex; TEXTS of them, or NULL */
/* the check of pmc_events; set at load */
static int (*check_events)(const char *events, char *why, size_t size) __ro_after_init;

/* Range of one key. */
struct setting {
	u32 min, max;
	const char *name;
};

/* The words of SEEPAGE_CONFIG_WORD_VALUES, as refusals list them. */
#define ALLOWED_POLICY	"ladder, classic"
#define ALLOWED_PMC	"auto, off, hold, on, watched"

/* One allowed word of a key. */
struct word {
	u8 key;
	u8 value;
	const char *text;
};

#define VALUE(KEY, WORD, word)	{ SEEPAGE_CFG_##KEY, SEEPAGE_##KEY##_##WORD, #word },
static const struct word words[] = { SEEPAGE_CONFIG_WORD_VALUES(VALUE) };
#undef VALUE

/* The defaults, then the configuration by module parameters; not changed after load. */
#define NUMBER(ID, word, def, lo, hi, text)	[SEEPAGE_CFG_##ID] = def,
#define WORD(ID, word, def, text)		[SEEPAGE_CFG_##ID] = SEEPAGE_##ID##_##def,
static struct seep_conf at_load = {
	.v = { SEEPAGE_CONFIG_NUMBERS(NUMBER) SEEPAGE_CONFIG_WORDS(WORD) }
};

#undef NUMBER
#undef WORD

/* Numbers are stored in place; words are kept as text. */
#define NUMBER(ID, word, def, lo, hi, text)				\
	module_param_named(word, at_load.v[SEEPAGE_CFG_##ID], uint, 0444); \
	MODULE_PARM_DESC(word, text " (" #lo ".." #hi ", default " #def ")");
#define WORD(ID, word, def, text)					\
	static char *param_##word;					\
	module_param_named(word, param_##word, charp, 0444);		\
	MODULE_PARM_DESC(word, text);
SEEPAGE_CONFIG_NUMBERS(NUMBER)
SEEPAGE_CONFIG_WORDS(WORD)
#undef NUMBER
#undef WORD
static char *param_pmc_events = "";
module_param_named(pmc_events, param_pmc_events, charp, 0444);
MODULE_PARM_DESC(pmc_events, "hardware events: NAME[=CODE],... (default those of the processor)");

/* The name that moduleparam.h keeps, without the prefix that it has when built in. */
#define NAME(word)	(__param_str_##word + sizeof("" MODULE_PARAM_PREFIX) - 1)
#define NUMBER(ID, word, def, lo, hi, text)				\
	[SEEPAGE_CFG_##ID] = { lo, hi, NAME(word) },
#define WORD(ID, word, def, text)					\
	[SEEPAGE_CFG_##ID] = { 0, SEEPAGE_##ID##_MAX, NAME(word) },
static const struct setting keys[] = {
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
};

static_assert(ARRAY_SIZE(keys) == __SEEPAGE_CFG_MAX);

#undef NAME
#undef NUMBER
#undef WORD

/**
 * seep_config_name() - the name of a key
 * @key: the key
 *
 * Context: any.
 */
const char *seep_config_name(enum seepage_cfg key)
{
	return keys[key].name;
}

/**
 * seep_config_word() - the word of a value
 * @key: the key
 * @value: its value
 *
 * Context: any.
 * Return: NULL for a key that has plain numbers.
 */
const char *seep_config_word(enum seepage_cfg key, u32 value)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].key == key && words[i].value == value)
			return words[i].text;
	return NULL;
}

static bool value_fits(int key, u32 value)
{
	return value >= keys[key].min && value <= keys[key].max;
}

/* The text of a refusal: what is allowed for a key. */
static void say_allowed(int key, char *why)
{
	const char *list = key == SEEPAGE_CFG_POLICY ? ALLOWED_POLICY : ALLOWED_PMC;

	if (seep_config_word(key, 0))
		snprintf(why, WHY_BYTES, "%s: allowed %s", keys[key].name, list);
	else
		snprintf(why, WHY_BYTES, "%s: allowed %u..%u", keys[key].name, keys[key].min,
			 keys[key].max);
}

/* Relations between values. Return: NULL, or the text of a refusal. */
static const char *check_whole(const struct seep_conf *c)
{
	if (c->v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] > c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS])
		return "suspect_interval_ms must not exceed sample_interval_ms";
	if (c->v[SEEPAGE_CFG_FAULT_RATE_WARNING] > c->v[SEEPAGE_CFG_FAULT_RATE_CRITICAL])
		return "fault_rate_warning must not exceed fault_rate_critical";
	return NULL;
}

/* Set a key from the word @text; NULL: leave its default. */
static int set_word(struct seep_conf *c, int key, const char *text)
{
	char why[WHY_BYTES];
	int i;

	if (!text)
		return 0;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].key == key && sysfs_streq(text, words[i].text)) {
			c->v[key] = words[i].value;
			return 0;
		}
	}
	say_allowed(key, why);
	pr_err("parameter %s, '%s' given\n", why, text);
	return -EINVAL;
}

/* Check the module parameters. Return: 0 or -EINVAL, with a line in the log. */
static int from_parameters(struct seep_conf *c)
{
	char why[WHY_BYTES];
	const char *wrong;
	int key;

#define WORD(ID, word, def, text)					\
	if (set_word(c, SEEPAGE_CFG_##ID, param_##word))		\
		return -EINVAL;						\
	if (!param_##word)	/* displayed in sysfs */			\
		param_##word = (char *)seep_config_word(SEEPAGE_CFG_##ID, c->v[SEEPAGE_CFG_##ID]);
	SEEPAGE_CONFIG_WORDS(WORD)
#undef WORD
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++) {
		if (value_fits(key, c->v[key]))
			continue;
		say_allowed(key, why);
		pr_err("parameter %s, %u given\n", why, c->v[key]);
		return -EINVAL;
	}
	wrong = check_whole(c);
	if (wrong)
		pr_err("parameters: %s\n", wrong);
	return wrong ? -EINVAL : 0;
}

static int events_from_parameter(void)
{
	char why[WHY_BYTES];
	int rc = check_events(param_pmc_events, why, sizeof(why));

	if (rc) {
		pr_err("parameter %s\n", why);
		return rc;
	}
	pmc_events = kstrdup(param_pmc_events, GFP_KERNEL);
	return pmc_events ? 0 : -ENOMEM;
}

/*
 * Replace the configuration, and the list of events unless @events is NULL; both were
 * checked. Return: 0, or -ENOMEM and nothing has changed. Context: config_mutex.
 */
static int put_in_force(const struct seep_conf *c, const char *events)
{
	struct seep_conf *new = kmemdup(c, sizeof(*c), GFP_KERNEL), *old;
	char *list = events ? kstrdup(events, GFP_KERNEL) : NULL;

	if (!new || (events && !list)) {
		kfree(new);
		kfree(list);
		return -ENOMEM;
	}
	old = rcu_replace_pointer(seep_config, new, lockdep_is_held(&config_mutex));
	synchronize_rcu();	/* readers copy it under rcu_read_lock() */
	kfree(old);
	if (list) {
		pmc_events_nr += !!strcmp(list, pmc_events);
		kfree(pmc_events);
		pmc_events = list;
	}
	return 0;
}

/**
 * seep_config_get() - copy the configuration in force
 * @c: out
 *
 * Context: any.
 */
void seep_config_get(struct seep_conf *c)
{
	rcu_read_lock();
	*c = *rcu_dereference(seep_config);
	rcu_read_unlock();
}

/**
 * seep_config_value() - one value of the configuration in force
 * @key: the key
 *
 * Context: any.
 */
u32 seep_config_value(enum seepage_cfg key)
{
	u32 v;

	rcu_read_lock();
	v = rcu_dereference(seep_config)->v[key];
	rcu_read_unlock();
	return v;
}

/**
 * seep_config_pmc_events() - the configured list of hardware events
 * @buf: out; empty: that of the processor
 * @size: of @buf
 *
 * Context: process, may sleep.
 * Return: a number above 0 that changes with the list.
 */
u32 seep_config_pmc_events(char *buf, size_t size)
{
	u32 nr;

	mutex_lock(&config_mutex);
	seep_copy(buf, pmc_events, size);
	nr = pmc_events_nr;
	mutex_unlock(&config_mutex);
	return nr;
}

/*
 * Refuse with a text that is not constant. It is read after the mutex is released, so it
 * cannot be in one buffer: refusals at the same time use different ones. They are allocated
 * with the first refusal. Context: config_mutex.
 */
static int refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, const char *why,
		  int rc)
{
	static u8 next;			/* config_mutex */

	extack->bad_attr = attr;
	if (!texts)
		texts = kmalloc_array(TEXTS, WHY_BYTES, GFP_KERNEL);
	if (!texts) {
		extack->_msg = "no memory to say what is wrong";
		return rc;
	}
	extack->_msg = memcpy(texts[next++ % TEXTS], why, WHY_BYTES);
	return rc;
}

/* CONFIG to an array by key. Return: 0 or -EINVAL. */
static int parse_nest(struct nlattr *nest, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	struct nlattr *attr;
	int rc, rem;

	/* a policy would have the same entry for each key */
	rc = nla_parse_nested(tb, SEEPAGE_CFG_MAX, nest, NULL, extack);
	if (rc)
		return rc;
	nla_for_each_nested(attr, nest, rem) {
		extack->bad_attr = attr;
		if (attr->nla_len != nla_attr_size(sizeof(u32)) || attr->nla_type & NLA_F_NESTED)
			extack->_msg = "CONFIG: allowed a u32 for each key";
		else if (attr != tb[nla_type(attr)])
			extack->_msg = "a key is given twice";
		else
			continue;
		return -EINVAL;
	}
	extack->bad_attr = NULL;
	return 0;
}

/* Check and set the values. Return: 0 or -EINVAL. */
static int take_values(struct seep_conf *c, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	char why[WHY_BYTES];
	const char *wrong;
	int key;

	for (key = 1; key < __SEEPAGE_CFG_MAX; key++) {
		if (!tb[key])
			continue;
		c->v[key] = nla_get_u32(tb[key]);
		if (value_fits(key, c->v[key]))
			continue;
		say_allowed(key, why);
		return refuse(extack, tb[key], why, -EINVAL);
	}
	wrong = check_whole(c);
	if (wrong) {
		extack->_msg = wrong;
		return -EINVAL;
	}
	return 0;
}

static int take_events(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	char why[WHY_BYTES];
	int rc = check_events(nla_data(attr), why, sizeof(why));

	return rc ? refuse(extack, attr, why, rc) : 0;
}

/**
 * seep_config_set() - change some keys
 * @nest: SEEPAGE_A_CONFIG, or NULL
 * @events: SEEPAGE_A_PMC_WANTED, or NULL
 * @extack: gets the key and what is allowed
 *
 * The caller must then call seep_tick_reschedule(), and seep_pmu_configure() if a setting
 * of hardware counters has changed.
 *
 * Context: process, may sleep; takes config_mutex.
 * Return: 0, -EINVAL or -ENOMEM; on failure nothing has changed.
 */
int seep_config_set(struct nlattr *nest, struct nlattr *events, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[__SEEPAGE_CFG_MAX] = { };
	struct seep_conf c;
	int rc = nest ? parse_nest(nest, tb, extack) : 0;

	if (rc)
		return rc;
	mutex_lock(&config_mutex);
	seep_config_get(&c);
	rc = take_values(&c, tb, extack);
	if (!rc && events)
		rc = take_events(events, extack);
	if (!rc)
		rc = put_in_force(&c, events ? nla_data(events) : NULL);
	mutex_unlock(&config_mutex);
	return rc;
}

/**
 * seep_config_reset() - back to the module parameters
 *
 * The caller must then call the same functions as after seep_config_set().
 *
 * Context: process, may sleep; takes config_mutex.
 * Return: 0 or -ENOMEM.
 */
int seep_config_reset(void)
{
	int rc;

	mutex_lock(&config_mutex);
	rc = put_in_force(&at_load, param_pmc_events);
	mutex_unlock(&config_mutex);
	return rc;
}

/**
 * seep_config_init() - configure from the module parameters
 * @check: checks a list of hardware events; its @why says what is wrong
 *
 * Context: module init, first of all.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int __init seep_config_init(int (*check)(const char *events, char *why, size_t size))
{
	struct seep_conf *c;
	int rc;

	check_events = check;
	rc = from_parameters(&at_load) ?: events_from_parameter();
	if (rc)
		return rc;
	c = kmemdup(&at_load, sizeof(at_load), GFP_KERNEL);
	if (!c) {
		kfree(pmc_events);
		return -ENOMEM;
	}
	RCU_INIT_POINTER(seep_config, c);
	return 0;
}

/**
 * seep_config_exit() - free the configuration
 *
 * Context: module exit, last of all.
 */
void seep_config_exit(void)
{
	kfree(rcu_dereference_protected(seep_config, 1));
	kfree(pmc_events);
	kfree(texts);
}
