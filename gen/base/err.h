/* Errors are values. A function that can fail takes a `struct err *`, fills it where the cause is known and returns
 * -1; callers pass it up untouched, and only a command (gen/cmd) prints it. The text names the thing that failed, the
 * problem and, where there is one, the next step: "run.sqlite: damaged page in table X; export the report again". */
#ifndef GAPLINE_BASE_ERR_H
#define GAPLINE_BASE_ERR_H

/* What kind of failure it is, where callers and users of the JSON tell it from others (cmd/error.c has their names). */
enum err_id {
	ERR_OTHER,
	ERR_MISSING,    /* no such file, or name */
	ERR_UNREADABLE, /* it is there, and cannot be opened or read */
	ERR_DAMAGED,    /* cut off, or changed */
	ERR_EMPTY,      /* there is nothing in it to judge */
	ERR_REPLACED,   /* written while it was read */
	ERR_PROGRAM_FAILED,
	ERR_INTERRUPTED,
	ERR_OCCUPIED, /* a folder holds something already */
	ERR_MEMORY,
	ERR_IDS
};

struct err {
	enum err_id id;
	char text[1024]; /* one line of UTF-8 without control characters, no newline at the end; "" when there is none
	                  */
};

/* Fills `e` and returns -1, so that `return err_set(e, ...)` reads as one thought. Control characters that arrive
 * through the arguments (file names, texts of a profile) are replaced by '?', a text too long is cut. */
int err_set(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same of a kind. */
int err_set_id(struct err *e, enum err_id id, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The kind of what the system says by its number (errno). */
enum err_id err_id_of(int number);

/* What the system says of an error, by its number (errno), and what to do about it where that can be told: "No space
 * left on device; free some, or write elsewhere". As strerror(3): valid until it is called again. */
const char *err_reason(int number);

#endif
