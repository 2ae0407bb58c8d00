/* Errors are values. A function that can fail takes a `struct err *`, fills it where the cause is known and returns
 * -1; callers pass it up untouched, and only a command (gen/cmd) prints it. The text names the thing that failed, the
 * problem and, where there is one, the next step: "run.sqlite: damaged page in table X; export the report again". */
#ifndef GAPLINE_BASE_ERR_H
#define GAPLINE_BASE_ERR_H

struct err {
	char text[1024]; /* one line of UTF-8 without control characters, no newline at the end; "" when there is none
	                  */
};

/* Fills `e` and returns -1, so that `return err_set(e, ...)` reads as one thought. Control characters that arrive
 * through the arguments (file names, texts of a profile) are replaced by '?', a text too long is cut. */
int err_set(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the system says of an error, by its number (errno), and what to do about it where that can be told: "No space
 * left on device; free some, or write elsewhere". As strerror(3): valid until it is called again. */
const char *err_reason(int number);

#endif
