// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration: one struct, replaced whole under RCU, so that whoever reads
 * it sees values that were checked together. Module parameters and SET_CONFIG
 * go through the same check.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <net/netlink.h>
#include "seep.h"

struct seep_conf __rcu *seep_config;

static DEFINE_MUTEX(config_mutex);	/* writers of seep_config */
static struct seep_conf at_load;	/* from the module parameters */
static char pmc_events[SEEP_PMC_WANTED];	/* config_mutex */

struct setting {
	const char *name;
	u32 min, max, init;
	const char *allowed;		/* text of the refusal */
};

/* As SEEPAGE_CONFIG_WORD_VALUES has them; an extack text cannot be put together. */
#define ALLOWED_POLICY	"ladder, classic"
#define ALLOWED_PMC	"auto, off, hold, on"

#define NUMBER(ID, word, def, lo, hi, text)				\
	[SEEPAGE_CFG_##ID] = { #word, lo, hi, def,			\
			       #word ": allowed " #lo ".." #hi },
#define WORD(ID, word, def, text)					\
	[SEEPAGE_CFG_##ID] = { #word, 0, SEEPAGE_##ID##_MAX,		\
			       SEEPAGE_##ID##_##def,			\
			       #word ": allowed " ALLOWED_##ID },
static const struct setting keys[] = {
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
};

static_assert(ARRAY_SIZE(keys) == __SEEPAGE_CFG_MAX);

#undef NUMBER
#undef WORD

#define NUMBER(ID, word, def, lo, hi, text)	[SEEPAGE_CFG_##ID] = #word,
#define WORD(ID, word, def, text)		[SEEPAGE_CFG_##ID] = #word,
const char * const seep_config_names[] = {
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
};

#undef NUMBER
#undef WORD

struct word {
	u8 key;
	u8 value;
	const char *text;
};

#define VALUE(KEY, WORD, word)	{ SEEPAGE_CFG_##KEY, SEEPAGE_##KEY##_##WORD, #word },
static const struct word words[] = { SEEPAGE_CONFIG_WORD_VALUES(VALUE) };
#undef VALUE

/* Module parameters: numbers as they are, words as text. */
#define NUMBER(ID, word, def, lo, hi, text)				\
	static uint param_##word = def;					\
	module_param_named(word, param_##word, uint, 0444);		\
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

/* The word of a value, or NULL for a plain number. */
const char *seep_config_word(enum seepage_cfg key, u32 value)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].key == key && words[i].value == value)
			return words[i].text;
	return NULL;
}

/* One value at a time; NULL when it is all right. */
static const char *check_value(int key, u32 value)
{
	if (value < keys[key].min || value > keys[key].max)
		return keys[key].allowed;
	return NULL;
}

/* What no single value shows. */
static const char *check_whole(const struct seep_conf *c)
{
	if (c->v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] > c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS])
		return "suspect_interval_ms must not exceed sample_interval_ms";
	if (c->v[SEEPAGE_CFG_FAULT_RATE_WARNING] > c->v[SEEPAGE_CFG_FAULT_RATE_CRITICAL])
		return "fault_rate_warning must not exceed fault_rate_critical";
	return NULL;
}

static int set_word(struct seep_conf *c, int key, const char *text)
{
	int i;

	if (!text) {
		c->v[key] = keys[key].init;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].key == key && sysfs_streq(text, words[i].text)) {
			c->v[key] = words[i].value;
			return 0;
		}
	}
	pr_err("parameter %s, '%s' given\n", keys[key].allowed, text);
	return -EINVAL;
}

static int from_parameters(struct seep_conf *c)
{
	const char *wrong;
	int key;

#define NUMBER(ID, word, def, lo, hi, text)	c->v[SEEPAGE_CFG_##ID] = param_##word;
#define WORD(ID, word, def, text)					\
	if (set_word(c, SEEPAGE_CFG_##ID, param_##word))		\
		return -EINVAL;						\
	if (!param_##word)	/* what sysfs shows */			\
		param_##word = (char *)seep_config_word(SEEPAGE_CFG_##ID, c->v[SEEPAGE_CFG_##ID]);
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
#undef NUMBER
#undef WORD
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++) {
		wrong = check_value(key, c->v[key]);
		if (wrong) {
			pr_err("parameter %s, %u given\n", wrong, c->v[key]);
			return -EINVAL;
		}
	}
	wrong = check_whole(c);
	if (wrong)
		pr_err("parameters: %s\n", wrong);
	return wrong ? -EINVAL : 0;
}

static int events_from_parameter(void)
{
	char why[160];
	int rc = seep_pmu_check(param_pmc_events, why, sizeof(why));

	if (rc)
		pr_err("parameter %s\n", why);
	else
		strscpy(pmc_events, param_pmc_events, sizeof(pmc_events));
	return rc;
}

static int publish(const struct seep_conf *c)
{
	struct seep_conf *new = kmemdup(c, sizeof(*c), GFP_KERNEL), *old;

	if (!new)
		return -ENOMEM;
	old = rcu_replace_pointer(seep_config, new, lockdep_is_held(&config_mutex));
	synchronize_rcu();	/* readers copy out under rcu_read_lock() */
	kfree(old);
	seep_tick_reschedule();
	return 0;
}

void seep_config_get(struct seep_conf *c)
{
	rcu_read_lock();
	*c = *rcu_dereference(seep_config);
	rcu_read_unlock();
}

u32 seep_config_value(enum seepage_cfg key)
{
	u32 v;

	rcu_read_lock();
	v = rcu_dereference(seep_config)->v[key];
	rcu_read_unlock();
	return v;
}

static const struct nla_policy policy[__SEEPAGE_CFG_MAX] = {
	[1 ... SEEPAGE_CFG_MAX] = { .type = NLA_U32 },
};

/* What is configured of hardware events; empty: the processor's. Process context. */
void seep_config_pmc_events(char *buf, size_t size)
{
	mutex_lock(&config_mutex);
	strscpy(buf, pmc_events, size);
	mutex_unlock(&config_mutex);
}

/*
 * The reader of an extack text comes after the mutex is released, so that it
 * cannot be one buffer: of the refusals of one moment each has its own.
 */
static int check_events(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	static char texts[8][160];	/* config_mutex to choose one */
	static u8 next;
	char *why = texts[next++ % ARRAY_SIZE(texts)];
	int rc = seep_pmu_check(nla_data(attr), why, sizeof(texts[0]));

	if (rc) {
		extack->_msg = why;
		extack->bad_attr = attr;
	}
	return rc;
}

static int parse_nest(struct nlattr *nest, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	struct nlattr *attr;
	int rc, rem;

	rc = nla_parse_nested(tb, SEEPAGE_CFG_MAX, nest, policy, extack);
	if (rc)
		return rc;
	nla_for_each_nested(attr, nest, rem) {
		if (attr == tb[nla_type(attr)])
			continue;
		NL_SET_ERR_MSG_ATTR(extack, attr, "a key is given twice");
		return -EINVAL;
	}
	return 0;
}

static int take_values(struct seep_conf *c, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	const char *wrong;
	int key;

	for (key = 1; key < __SEEPAGE_CFG_MAX; key++) {
		if (!tb[key])
			continue;
		c->v[key] = nla_get_u32(tb[key]);
		wrong = check_value(key, c->v[key]);
		if (wrong) {
			extack->_msg = wrong;
			extack->bad_attr = tb[key];
			return -EINVAL;
		}
	}
	wrong = check_whole(c);
	if (wrong) {
		extack->_msg = wrong;
		return -EINVAL;
	}
	return 0;
}

/**
 * seep_config_set() - change some keys, or none
 * @nest: SEEPAGE_A_CONFIG, or NULL
 * @events: SEEPAGE_A_PMC_WANTED, or NULL
 * @extack: says which key and what is allowed
 *
 * Context: process, may sleep.
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
		rc = check_events(events, extack);
	if (!rc)
		rc = publish(&c);
	if (!rc && events)
		strscpy(pmc_events, nla_data(events), sizeof(pmc_events));
	mutex_unlock(&config_mutex);
	if (!rc && (events || tb[SEEPAGE_CFG_PMC] || tb[SEEPAGE_CFG_PMC_MAX_COUNTERS]))
		seep_pmu_configure();
	return rc;
}

int seep_config_reset(void)
{
	int rc;

	mutex_lock(&config_mutex);
	rc = publish(&at_load);
	if (!rc)
		strscpy(pmc_events, param_pmc_events, sizeof(pmc_events));
	mutex_unlock(&config_mutex);
	if (!rc)
		seep_pmu_configure();
	return rc;
}

int __init seep_config_init(void)
{
	struct seep_conf *c;
	int rc = from_parameters(&at_load) ?: events_from_parameter();

	if (rc)
		return rc;
	c = kmemdup(&at_load, sizeof(at_load), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	RCU_INIT_POINTER(seep_config, c);
	return 0;
}

void seep_config_exit(void)
{
	kfree(rcu_dereference_protected(seep_config, 1));
}
