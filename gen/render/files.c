#include "render/sections.h"

#include "base/format.h"
#include "say/say.h"

enum { MOST_FILES = 200 }; /* rows of a side */

static void fill_side(const struct side *s, struct rows *words, struct rows *rows)
{
	static const char none[] = "\xE2\x80\x93";
	struct arena *arena = rows->page->arena;
	const struct side_files *f = &s->files;
	if (f->n < 2)
		return;
	const char *told = f->note ? f->note : arena_format(arena, "%s.", f->why); /* a note is a sentence */
	page_say(page_row(words), "text", arena_format(arena, "%s: %s", s->label, told));
	if (f->n > MOST_FILES)
		page_say(page_row(words), "text",
		         SAY(NULL, arena, files_cut, .label = s->label, .shown = MOST_FILES, .n = f->n));
	for (uint32_t i = 0; i < f->n && i < MOST_FILES; i++) {
		const struct side_file *file = &f->file[i];
		struct scope *row = page_row(rows);
		page_fill(row, "side", s->label);
		page_fill(row, "file", format_name(arena, file->file, 80));
		page_fill(row, "run", format_count(arena, file->run + 1));
		page_fill(row, "rank", file->rank < 0 ? none : format_count(arena, file->rank));
		page_fill(row, "by",
		          file->rank < 0 ? none : say_word(WORDS_picture, file->rank_named ? "by_name" : "by_profile"));
	}
}

void files_fill(const struct analysis *a, struct page *page)
{
	uint32_t before = a->side[0].files.n, after = a->side[1].files.n;
	page_if(&page->top, "files", before > 1 || after > 1);
	page_fill(&page->top, "files.summary",
	          SAY(NULL, page->arena, files_summary, .pair = a->n_sides > 1, .baseline = before, .fixed = after));
	struct rows *words = page_rows(&page->top, "files.word"), *rows = page_rows(&page->top, "file");
	for (uint32_t s = 0; s < a->n_sides; s++)
		fill_side(&a->side[s], words, rows);
}
