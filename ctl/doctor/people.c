// SPDX-License-Identifier: GPL-2.0
/* Checks of what is around the module: the caller's rights, the service, what `where` needs. */
#include <dirent.h>
#include <elf.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif
#define ID_MAX		20	/* bytes of a build id */

static bool has_cap(const struct doctor *d, unsigned int cap)
{
	return d->caps >> cap & 1;
}

void doctor_rights(struct doctor *d)
{
	if (has_cap(d, CAP_SYS_ADMIN) && has_cap(d, CAP_SYS_PTRACE)) {
		doctor_find(d, "rights", DOCTOR_OK, "this user may use all commands");
	} else if (has_cap(d, CAP_SYS_ADMIN)) {
		doctor_find(d, "rights", DOCTOR_WARN, "all commands but where for processes of "
			    "others, which needs CAP_SYS_PTRACE");
		doctor_remedy(d, "run it as root");
	} else if (has_cap(d, CAP_PERFMON)) {
		doctor_find(d, "rights", DOCTOR_WARN, "this user may read all; watch, record and "
			    "changes need CAP_SYS_ADMIN");
		doctor_remedy(d, "run those as root");
	} else {
		doctor_find(d, "rights", DOCTOR_WARN, "this user sees own processes only; others "
			    "need CAP_PERFMON or CAP_SYS_ADMIN");
		doctor_remedy(d, "run seepage as root, or with that capability");
	}
}

/*
 * Words of a command line end with a byte 0; is one of them after the first "watch"? One with
 * --no-cold does not look at memory: notify has such a child.
 */
static bool is_watch(const struct doctor *d, const char *pid)
{
	char path[320], comm[32];
	unsigned char *line;
	size_t n, at;
	bool found = false, no_cold = false;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	if (!doctor_line(d, path, comm, sizeof(comm)) || strcmp(comm, "seepage"))
		return false;
	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	line = doctor_bytes(d, path, &n);
	if (!line)
		return false;
	for (at = 0; at < n; at += strlen((char *)line + at) + 1) {
		found |= at && !strcmp((char *)line + at, "watch");
		no_cold |= !strcmp((char *)line + at, "--no-cold");
	}
	free(line);
	return found && !no_cold;
}

void doctor_watch(struct doctor *d)
{
	static const char wanted[] =
		"/etc/systemd/system/multi-user.target.wants/seepage-watch.service";
	char path[1024], pid[32] = "";
	struct dirent *e;
	DIR *dir;

	doctor_path(d, "/proc", path, sizeof(path));
	dir = opendir(path);
	while (dir && !*pid && (e = readdir(dir)))
		if (*e->d_name >= '1' && *e->d_name <= '9' && is_watch(d, e->d_name))
			snprintf(pid, sizeof(pid), "%.31s", e->d_name);
	if (dir)
		closedir(dir);
	if (*pid) {
		doctor_find(d, "watch", DOCTOR_OK, "seepage watch runs, pid %s%s", pid,
			    doctor_exists(d, "%s", wanted) ? "; the service starts it at boot" :
			    "");
		return;
	}
	if (doctor_proc_hides(d)) {
		doctor_find(d, "watch", DOCTOR_UNKNOWN, "whether seepage watch runs is not known, "
			    "as /proc hides processes of others%s",
			    doctor_exists(d, "%s", wanted) ? "; its service is enabled" : "");
		doctor_remedy(d, "run it as root");
		return;
	}
	doctor_find(d, "watch", DOCTOR_WARN, "seepage watch does not run: nobody reads alerts or "
		    "looks whether gained memory is used%s",
		    doctor_exists(d, "%s", wanted) ? "; its service is enabled" : "");
	doctor_remedy(d, doctor_exists(d, "%s", wanted) ? "systemctl status seepage-watch" :
		      doctor_has_unit(d, "watch") ? "systemctl enable --now seepage-watch" :
		      "make install-units, then systemctl enable --now seepage-watch; without "
		      "systemd, seepage watch in a service of another kind");
}

void doctor_where(struct doctor *d)
{
	struct doctor_object o;

	doctor_object(d, d->release, "seepage_where", &o);
	if (*o.path || doctor_exists(d, "/sys/module/seepage_where")) {
		doctor_find(d, "where", DOCTOR_OK, "the module of where --burst is there");
		return;
	}
	doctor_find(d, "where", DOCTOR_WARN, "no module seepage_where for kernel %s: where names "
		    "no call sites", d->release);
	doctor_remedy(d, d->loading == LOADS_NONE ?
		      "this kernel cannot load modules: build it with CONFIG_SEEPAGE_WHERE=y" :
		      "it is built with seepage, on x86-64 and arm64 with CONFIG_UPROBES");
}

/* ---- symbols of the C library ---- */

/* Reads the build id out of a segment of notes: sizes of name and value, a type, then both. */
static size_t build_id(const unsigned char *notes, size_t n, unsigned char *id)
{
	Elf64_Nhdr h;
	size_t at = 0, name, value;

	while (n >= sizeof(h) && at <= n - sizeof(h)) {
		memcpy(&h, notes + at, sizeof(h));
		name = at + sizeof(h);
		value = name + ((h.n_namesz + 3ULL) & ~3ULL);
		if (value > n || h.n_descsz > n - value)
			return 0;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && h.n_descsz <= ID_MAX) {
			memcpy(id, notes + value, h.n_descsz);
			return h.n_descsz;
		}
		at = value + ((h.n_descsz + 3ULL) & ~3ULL);
	}
	return 0;
}

/* Returns the length of the build id, 0: none. @frames: does the file have an unwind table? */
static size_t look_at(const unsigned char *file, size_t n, unsigned char *id, bool *frames)
{
	Elf64_Phdr p;
	Elf64_Ehdr h;
	size_t i, len = 0;

	*frames = false;
	if (n < sizeof(h) || memcmp(file, ELFMAG, SELFMAG) || file[EI_CLASS] != ELFCLASS64)
		return 0;
	memcpy(&h, file, sizeof(h));
	for (i = 0; i < h.e_phnum && h.e_phoff < n &&
	     (i + 1) * sizeof(p) <= n - h.e_phoff; i++) {
		memcpy(&p, file + h.e_phoff + i * sizeof(p), sizeof(p));
		*frames |= p.p_type == PT_GNU_EH_FRAME;
		if (p.p_type == PT_NOTE && !len && p.p_offset <= n && p.p_filesz <= n - p.p_offset)
			len = build_id(file + p.p_offset, p.p_filesz, id);
	}
	return len;
}

/* Finds the C library among the mappings of this process. */
static bool find_libc(const struct doctor *d, char *path, size_t size)
{
	char *maps = doctor_text(d, "/proc/self/maps"), *end;
	const char *at = maps ? strstr(maps, "/libc.so.6\n") : NULL;

	*path = '\0';
	if (at) {
		end = strchr(at, '\n');
		*end = '\0';
		while (at > maps && at[-1] != ' ' && at[-1] != '\n')
			at--;
		snprintf(path, size, "%s", at);
	}
	free(maps);
	return *path;
}

void doctor_symbols(struct doctor *d)
{
	char path[512], name[2 * ID_MAX + 1] = "";
	unsigned char id[ID_MAX] = { 0 }, *file = NULL;
	size_t n = 0, len = 0, i;
	bool frames = false;

	if (find_libc(d, path, sizeof(path)))
		file = doctor_bytes(d, path, &n);
	if (file)
		len = look_at(file, n, id, &frames);
	free(file);
	for (i = 0; i < len; i++)
		snprintf(name + 2 * i, 3, "%02x", id[i]);
	if (!*path) {
		doctor_find(d, "symbols", DOCTOR_WARN, "no shared C library of glibc was found");
	} else if (!frames) {
		doctor_find(d, "symbols", DOCTOR_WARN, "%s has no unwind table: where --burst "
			    "finds no callers", path);
		doctor_remedy(d, "install the C library of the distribution");
	} else if (len && doctor_exists(d, "/usr/lib/debug/.build-id/%.2s/%s.debug", name,
					name + 2)) {
		doctor_find(d, "symbols", DOCTOR_OK, "the C library has an unwind table and a "
			    "debug file; frame pointers are not needed");
	} else {
		doctor_find(d, "symbols", DOCTOR_OK, "the C library has an unwind table, so frame "
			    "pointers are not needed; no debug file (build id %s): its inner "
			    "functions have no names", len ? name : "missing");
		doctor_remedy(d, "apt install libc6-dbg");
	}
}
