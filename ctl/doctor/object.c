// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a module: where modprobe finds it, what .modinfo says of it, and its signature.
 * The signature follows the ELF file: a PKCS#7 message, struct module_signature (12 bytes, the
 * last four of which are the length of the message, most significant byte first), a magic text.
 */
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

#define MAGIC		"~Module signature appended~\n"
#define SIGNATURE	12	/* sizeof(struct module_signature) */
#define STRING_MAX	64	/* of a name in a certificate */

/* The value of "key=value", as .modinfo has it between bytes 0. */
static void modinfo(const unsigned char *file, size_t n, const char *key, char *buf, size_t size)
{
	char word[32];
	size_t len = (size_t)snprintf(word, sizeof(word), "%c%s=", '\0', key);
	const char *at = memmem(file, n, word, len);
	size_t left;

	/* not there, or the first word of .modinfo, before which there may be no NUL */
	if (!at)
		return;
	at += len;
	left = n - (size_t)(at - (const char *)file);
	snprintf(buf, size, "%.*s", (int)strnlen(at, left < size ? left : size), at);
}

/*
 * The common name of the signer. In DER it follows its object identifier, 2.5.4.3, as a tag and
 * a length.
 */
static void signer(const unsigned char *message, size_t n, char *buf, size_t size)
{
	static const unsigned char oid[] = { 0x06, 0x03, 0x55, 0x04, 0x03 };
	const unsigned char *at = memmem(message, n, oid, sizeof(oid));
	size_t left = at ? n - (size_t)(at - message) - sizeof(oid) : 0;

	if (left < 2)
		return;
	at += sizeof(oid);
	if (at[1] <= STRING_MAX && (size_t)at[1] + 2 <= left)
		fmt_safe(buf, size, (const char *)at + 2, at[1]);
}

static void signature(const unsigned char *file, size_t n, struct doctor_object *o)
{
	const size_t magic = sizeof(MAGIC) - 1;
	const unsigned char *len;
	size_t message;

	if (n < magic + SIGNATURE || memcmp(file + n - magic, MAGIC, magic))
		return;
	o->has_signature = true;
	n -= magic;
	len = file + n - 4;
	message = (size_t)len[0] << 24 | (size_t)len[1] << 16 | (size_t)len[2] << 8 | len[3];
	n -= SIGNATURE;
	if (message <= n)
		signer(file + n - message, message, o->signer, sizeof(o->signer));
}

static bool try_path(const struct doctor *d, struct doctor_object *o, const char *release,
		     const char *below, const char *module)
{
	static const char *const ends[] = { "", ".xz", ".zst", ".gz" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		snprintf(o->path, sizeof(o->path), "/lib/modules/%s/%s/%s.ko%s", release, below,
			 module, ends[i]);
		if (doctor_exists(d, "%s", o->path))
			return true;
	}
	o->path[0] = '\0';
	return false;
}

/* The line of modules.dep: a path below the directory of the kernel, and ':'. */
static bool indexed(const struct doctor *d, struct doctor_object *o, const char *release,
		    const char *module)
{
	char path[192], name[64], *text, *line, *save = NULL;
	size_t n;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	snprintf(name, sizeof(name), "/%s.ko", module);
	text = (char *)doctor_bytes(d, path, &n);	/* may be more than 1 MB */
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line && !o->indexed;
	     line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, ":")] = '\0';
		o->indexed = strstr(line, name);
		if (o->indexed && *line == '/')
			snprintf(o->path, sizeof(o->path), "%s", line);
		else if (o->indexed)
			snprintf(o->path, sizeof(o->path), "/lib/modules/%s/%s", release, line);
	}
	free(text);
	return o->indexed;
}

/**
 * doctor_object() - find and read the file of a module
 * @release: of the kernel
 * @module: its name
 * @o: what is known; o->path is empty if there is no file
 */
void doctor_object(const struct doctor *d, const char *release, const char *module,
		   struct doctor_object *o)
{
	unsigned char *file;
	size_t n;

	memset(o, 0, sizeof(*o));
	if (!indexed(d, o, release, module) && !try_path(d, o, release, "updates/dkms", module) &&
	    !try_path(d, o, release, "updates", module) &&
	    !try_path(d, o, release, "extra", module))
		return;
	file = doctor_bytes(d, o->path, &n);
	o->readable = file;
	if (!file)
		return;
	modinfo(file, n, "version", o->version, sizeof(o->version));
	modinfo(file, n, "vermagic", o->vermagic, sizeof(o->vermagic));
	signature(file, n, o);
	free(file);
}
