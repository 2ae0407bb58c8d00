/* Memory that is there or ends the process: a batch command has nothing better to do without it, and no caller has to
 * check. The end is a sentence and status 2, and whatever would have been left half-done is undone first.
 *
 * Libraries that check little or print messages of their own (libxml2), and SQLite, where an answer that is
 * missing looks like an empty value, are given these functions too: main.c. */
#ifndef GAPLINE_BASE_MEMORY_H
#define GAPLINE_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_STATUS = 2 };

/* malloc, calloc, realloc and strdup of stdlib.h, but never NULL: also for no bytes. free(3) gives it back. */
void *memory_take(size_t n);
void *memory_take_zeroed(size_t n, size_t size);
void *memory_resize(void *old, size_t n);
char *memory_copy(const char *text);

/* Of `n` bytes that one of them gave, if they are many: the system may give them in large pages, where it has some.
 * What is touched for the first time costs as much for a large page as for a small one, and there are 512 times fewer.
 */
void memory_large(void *p, size_t n);

/* vsnprintf(3): what has room of a text and its end, and the bytes of the whole without the end. It takes memory of its
 * own for some numbers, and uses up `args`. */
__attribute__((format(printf, 3, 0))) size_t memory_print(char *text, size_t room, const char *format, va_list args);

/* Says that there is no memory, undoes what has to be, and ends the process with MEMORY_STATUS. For any thread. */
_Noreturn void memory_exhausted(void);

/* What stands before, between and behind the two parts of that sentence on standard error; "gapline: ", "; ", a line's
 * end as long as nobody says otherwise. Borrowed for good. */
void memory_frame(const char *const texts[3]);

/* That sentence: what is wrong, a semicolon, and what to do about it. */
const char *memory_problem(void);

/* Has `undo` called before the process ends so, the last one first, without the limit below: it waits for nobody, and
 * where it finds no memory it does not return, nor is another called. At most eight functions; one that is there
 * already is not added again. */
void memory_undo(void (*undo)(void));

/* No more than so many bytes of memory for this process (RLIMIT_DATA, getrlimit(2)): beyond, it ends as above. -1 with
 * errno when the system refuses. */
int memory_limit(uint64_t bytes);

/* In a child, before its program: that has the limit which we had before memory_limit. Takes no memory. */
void memory_unlimited(void);

#endif
