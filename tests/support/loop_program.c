#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loop_program.h"

#include "charge/charge.h"

void loop_program_init(struct loop_program *p)
{
	*p = (struct loop_program){.now = MS};
	names_init(&p->names, &p->arena);
	maker_init(&p->m, &p->arena, &p->names);
	uint32_t process = maker_process(&p->m, 100);
	p->thread = maker_thread(&p->m, process, 100);
	p->gpu = maker_device(&p->m, process, 0, TRACE_NONE);
}

void loop_program_kernel(struct loop_program *p, const char *name, int64_t length, bool launched)
{
	p->correlation++;
	if (launched)
		maker_call(&p->m, p->thread, p->now, p->now + 5000, "cudaLaunchKernel", CALL_LAUNCH, p->correlation);
	maker_op(&p->m, p->gpu, 7, OP_KERNEL, p->now + 7000, p->now + 7000 + length, name, p->correlation);
	p->now += 8000 + length;
}

void loop_program_find(struct loop_program *p, struct run *run)
{
	struct err err = {0};
	assert_int_equal(run_prepare(run, maker_link(&p->m), NULL, 1, &p->arena, &err), 0);
}
