// SPDX-License-Identifier: GPL-2.0
/*
 * A command for each note: the alert as JSON on its standard input, its figures and names in
 * the environment. No shell is involved. Its output goes to standard error. A command that
 * does not end in time is killed, with all that it has started in its process group.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "notify/notify.h"

#define VARIABLE_MAX	4096	/* bytes of a variable; longer values are on stdin only */

struct exec_job {
	pid_t pid;
	int in;			/* its standard input; -1: closed */
	char *text;
	size_t len, at;		/* at: written so far */
	u64 deadline_ms, limit_s;
	bool late;		/* killed at the deadline */
};

/* ---- environment ---- */

static char *variable(const char *key, struct json_object *value)
{
	const char *s = json_object_is_type(value, json_type_string) ?
			json_object_get_string(value) : json_object_to_json_string(value);
	char *text, *c;

	if (strlen(s) > VARIABLE_MAX || asprintf(&text, "SEEPAGE_%s=%s", key, s) < 0)
		return NULL;
	for (c = text; *c != '='; c++)
		*c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
	return text;
}

static bool is_scalar(struct json_object *value)
{
	return value && !json_object_is_type(value, json_type_object) &&
	       !json_object_is_type(value, json_type_array);
}

/* Returns the environment of this program and SEEPAGE_KEY of each key; environment_free(). */
static char **environment(struct json_object *note)
{
	size_t n = 0, keys = (size_t)json_object_object_length(note), i;
	char **env, *text;

	while (environ[n])
		n++;
	env = must(calloc(n + keys + 1, sizeof(*env)));
	for (i = 0; i < n; i++)
		env[i] = must(strdup(environ[i]));
	json_object_object_foreach(note, key, value) {
		text = is_scalar(value) ? variable(key, value) : NULL;
		if (text)
			env[n++] = text;
	}
	return env;
}

static void environment_free(char **env)
{
	size_t i;

	for (i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}

/* ---- the process ---- */

/* Runs in the child. Only calls that are safe beside the threads of libcurl. */
static void execute(char **words, char **env, int in)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dup2(in, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	syscall(SYS_close_range, 3U, ~0U, 0U);
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvpe(words[0], words, env);
	_exit(errno == ENOENT ? 127 : 126);
}

/*
 * Starts the command of @to. @note: an alert, completed. Returns false, with @r filled, if no
 * process can be had.
 */
bool exec_begin(struct receiver *to, struct json_object *note, u64 limit_s, struct result *r)
{
	struct exec_job *job = must(calloc(1, sizeof(*job)));
	char **env = environment(note);
	int in[2] = { -1, -1 };

	if (!pipe2(in, O_CLOEXEC))
		job->pid = fork();
	else
		job->pid = -1;
	if (!job->pid)
		execute(to->words, env, in[0]);
	environment_free(env);
	if (job->pid < 0) {
		snprintf(r->text, sizeof(r->text), "%s", strerror(errno));
		r->outcome = LATER;
		close(in[0]);
		close(in[1]);
		free(job);
		return false;
	}
	setpgid(job->pid, job->pid);	/* whoever comes first */
	close(in[0]);
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	job->in = in[1];
	job->text = must(strdup(json_object_to_json_string_ext(note,
							       JSON_C_TO_STRING_NOSLASHESCAPE)));
	job->len = strlen(job->text);
	job->limit_s = limit_s;
	job->deadline_ms = clock_ms() + limit_s * 1000;
	to->job = job;
	exec_step(to);
	return true;
}

static void close_input(struct exec_job *job)
{
	if (job->in >= 0)
		close(job->in);
	job->in = -1;
}

/* Writes what the command takes, and kills it when its time is over. */
void exec_step(struct receiver *to)
{
	struct exec_job *job = to->job;
	ssize_t n;

	while (job->in >= 0 && job->at < job->len) {
		n = write(job->in, job->text + job->at, job->len - job->at);
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			job->at = job->len;	/* a command may end without reading */
		else
			job->at += (size_t)n;
	}
	if (job->at == job->len)
		close_input(job);
	if (clock_ms() >= job->deadline_ms && !job->late) {
		job->late = true;
		kill(-job->pid, SIGKILL);
	}
}

static void job_free(struct receiver *to)
{
	struct exec_job *job = to->job;

	close_input(job);
	free(job->text);
	free(job);
	to->job = NULL;
}

/* Has the command ended? Then @r has how. */
bool exec_done(struct receiver *to, struct result *r)
{
	struct exec_job *job = to->job;
	int status;

	if (waitpid(job->pid, &status, WNOHANG) <= 0)
		return false;
	kill(-job->pid, SIGKILL);	/* what it left behind */
	memset(r, 0, sizeof(*r));
	r->outcome = WIFEXITED(status) && !WEXITSTATUS(status) ? TAKEN : LATER;
	if (job->late)
		snprintf(r->text, sizeof(r->text), "killed after %llu s", job->limit_s);
	else if (WIFSIGNALED(status))
		snprintf(r->text, sizeof(r->text), "signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126)
		snprintf(r->text, sizeof(r->text), "exit status %d: cannot be executed",
			 WEXITSTATUS(status));
	else
		snprintf(r->text, sizeof(r->text), "exit status %d", WEXITSTATUS(status));
	job_free(to);
	return true;
}

void exec_cancel(struct receiver *to)
{
	struct exec_job *job = to->job;

	kill(-job->pid, SIGKILL);
	waitpid(job->pid, NULL, 0);
	job_free(to);
}

/* The descriptor to be waited for with POLLOUT; -1: none */
int exec_fd(const struct receiver *to)
{
	return ((const struct exec_job *)to->job)->in;
}

u64 exec_deadline_ms(const struct receiver *to)
{
	const struct exec_job *job = to->job;

	return job->late ? UINT64_MAX : job->deadline_ms;
}
