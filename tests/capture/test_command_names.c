/* What people would call the sides of `gapline run`: pairs of commands, and the names worked out by hand. */
#include "capture/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static int release_arena(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

struct pair {
	const char *commands[2], *names[2];
};

static void check(const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err err;
		const char *const *words[2];
		const char *names[2];
		for (int s = 0; s < 2; s++)
			if (command_split(pairs[i].commands[s], &arena, &words[s], &err))
				fail_msg("%s", err.text);
		command_names(words, names, &arena);
		for (int s = 0; s < 2; s++)
			if (strcmp(names[s], pairs[i].names[s]) != 0)
				print_error("%s\n  is called '%s', not '%s'\n", pairs[i].commands[s], names[s],
				            pairs[i].names[s]);
		for (int s = 0; s < 2; s++)
			assert_string_equal(names[s], pairs[i].names[s]);
	}
}

static void test_programs_have_names(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{{"python slow.py", "python fast.py"}, {"slow.py", "fast.py"}},
		{{"python slow.py --steps 6000", "python fast.py --steps 6000"}, {"slow.py", "fast.py"}},
		{{"/opt/py/bin/python3.11 -u -X faulthandler slow.py 9", "python3 -O fast.py 9"},
	         {"slow.py", "fast.py"}},
		{{"python -m pkg.slow --x", "python -m pkg.fast --x"}, {"pkg.slow", "pkg.fast"}},
		{{"./sim -n 9", "./sim2 -n 9"}, {"sim", "sim2"}},
		{{"build/a/old -n 9", "build/b/new -n 9"}, {"old", "new"}},
		{{"torchrun --nproc_per_node 4 --rdzv_backend c10d a.py --x 1", "torchrun --standalone b.py --x 1"},
	         {"a.py", "b.py"}},
		{{"python -m torch.distributed.run --nproc-per-node=8 a.py", "python -m cProfile -o f b.py"},
	         {"a.py", "b.py"}},
		{{"accelerate launch --num_processes 2 a.py", "deepspeed --num_gpus 2 b.py"}, {"a.py", "b.py"}},
		{{"env A=1 B=2 ./old", "env -u LD_PRELOAD A=1 ./new"}, {"old", "new"}},
		{{"mpirun -np 8 --hostfile /etc/hosts ./old in.dat", "mpirun -np 8 --oversubscribe ./new in.dat"},
	         {"old", "new"}},
		{{"srun -n 4 --mpi=pmix lmp -in in.lj", "srun -n 4 gmx mdrun"}, {"lmp", "gmx"}},
		{{"bash -c 'cd x && ./old | tee log'", "bash -lc './new > log 2>&1'"}, {"old", "new"}},
		{{"sh old.sh", "bash -e new.sh"}, {"old.sh", "new.sh"}},
		{{"timeout 60 ./old", "timeout -k 5 60 nice -n 5 ./new"}, {"old", "new"}},
		{{"numactl --cpunodebind=0 -m 0 ./old", "taskset -c 0-3 ./new"}, {"old", "new"}},
		{{"uv run a.py", "conda run -n env python b.py"}, {"a.py", "b.py"}},
		{{"bash -c 'A=1 ./old'", "bash -c 'export A=1; ./new'"}, {"old", "new"}},
		{{"julia --project=. a.jl", "java -jar b.jar"}, {"a.jl", "b.jar"}},
	};
	check(pairs, sizeof pairs / sizeof *pairs);
}

static void test_the_same_program_is_called_by_what_differs(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{{"python train.py --steps 6000", "python train.py --steps 6000"}, {"train.py", "train.py"}},
		{{"python train.py", "python train.py --prefetch"}, {"train.py", "train.py --prefetch"}},
		{{"python train.py --workers 0 --steps 9", "python train.py --workers 8 --steps 9"},
	         {"train.py --workers 0", "train.py --workers 8"}},
		{{"python train.py --workers=0", "python train.py --workers=8"},
	         {"train.py --workers=0", "train.py --workers=8"}},
		{{"./t --a 1 --b 2", "./t --a 2 --b 1"}, {"t --a 1 --b 2", "t --a 2 --b 1"}},
		{{"./sim 100", "./sim 200"}, {"sim 100", "sim 200"}},
		{{"./sim /data/x/small.dat", "./sim /data/x/large.dat"}, {"sim small.dat", "sim large.dat"}},
		{{"./sim -n -3", "./sim -n 3"}, {"sim -n -3", "sim -n 3"}},
		{{"env A=1 ./prog", "env A=2 ./prog"}, {"A=1 prog", "A=2 prog"}},
		{{"./prog", "env A=1 ./prog"}, {"prog", "env A=1 prog"}},
		{{"bash -c 'A=1 ./prog'", "bash -c 'A=2 ./prog'"}, {"A=1 prog", "A=2 prog"}},
		{{"mpirun -np 4 ./prog", "mpirun -np 8 ./prog"}, {"prog -np 4", "prog -np 8"}},
		{{"python train.py", "torchrun train.py"}, {"python train.py", "torchrun train.py"}},
		{{"make -C old run", "make -C new run"}, {"make -C old", "make -C new"}},
		{{"make slow", "make fast"}, {"make slow", "make fast"}},
		{{"python -m pkg.mod --x", "python -m pkg.mod --y"}, {"pkg.mod --x", "pkg.mod --y"}},
	};
	check(pairs, sizeof pairs / sizeof *pairs);
}

static void test_the_same_file_is_called_by_its_folder(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{{"python old/train.py --steps 9", "python new/train.py --steps 9"}, {"old/train.py", "new/train.py"}},
		{{"python train.py", "python new/train.py"}, {"train.py", "new/train.py"}},
		{{"/opt/old/build/sim", "/opt/new/build/sim"}, {"old/\xE2\x80\xA6/sim", "new/\xE2\x80\xA6/sim"}},
		{{"../old/sim", "./sim"}, {"old/sim", "sim"}},
		{{"sh -c 'cd old && ./sim'", "sh -c 'cd new && ./sim'"}, {"old/sim", "new/sim"}},
		{{"sh -c 'cd old && ./sim'", "./sim"}, {"old/sim", "sim"}},
		{{"env -C old ./sim", "env -C new ./sim"}, {"old/sim", "new/sim"}},
		{{"./sim --config=/x/a/c.yaml", "./sim --config=/x/b/c.yaml"},
	         {"sim --config=a/c.yaml", "sim --config=b/c.yaml"}},
		{{"/envs/a/bin/python train.py", "/envs/b/bin/python train.py"},
	         {"a/\xE2\x80\xA6/python train.py", "b/\xE2\x80\xA6/python train.py"}},
	};
	check(pairs, sizeof pairs / sizeof *pairs);
}

static void test_what_is_no_name_is_not_shown(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{{"./t --api-key hunter2", "./t --api-key hunter3"}, {"t", "t"}},
		{{"env HF_TOKEN=hf_1 ./t", "env HF_TOKEN=hf_2 ./t"}, {"HF_TOKEN t", "HF_TOKEN t"}},
		{{"./t --url=http://me:pw@host/a", "./t --url=http://me:pw@host/b"}, {"t --url", "t --url"}},
		{{"./t -p hunter2", "./t -p hunter3"}, {"t", "t"}},
		{{"./t --passphrase alpha", "./t --passphrase beta"}, {"t", "t"}},
		{{"./t --passphrase=alpha", "./t --passphrase=beta"}, {"t --passphrase", "t --passphrase"}},
		{{"./t", "./t --passphrase alpha --pin 1234"}, {"t", "t --passphrase --pin"}},
		{{"env PASS=alpha ./t", "env PASS=beta ./t"}, {"PASS t", "PASS t"}},
		{{"bash -c 'PASS=alpha ./t'", "bash -c 'PASS=beta ./t'"}, {"PASS t", "PASS t"}},
		{{"./t -phunter2", "./t -phunter3"}, {"t -p", "t -p"}},
		{{"./t hf_0123456789abcdefghijklmnopqrstuvwx", "./t hf_1123456789abcdefghijklmnopqrstuvwx"},
	         {"t", "t"}},
		{{"./t --model hf_0123456789abcdefghijklmnopqrstuvwx", "./t --model b"}, {"t", "t --model b"}},
		{{"./t ghp_0123456789abcdefghij0123456789", "./t password=hunter2"}, {"t", "t password"}},
		{{"python -c 'import a'", "python -c 'import b'"}, {"python", "python"}},
		{{"python", "python -i"}, {"python", "python -i"}},
		{{"bash", "bash -c ''"}, {"bash", "bash"}},
		{{"bash -c ' ; '", "bash -c '&&'"}, {"bash", "bash"}},
		{{"./", "/"}, {"./", "/"}},
		{{"mpirun -np 4", "mpirun"}, {"mpirun -np 4", "mpirun"}},
		{{"'<script>' a", "'<script>' b"}, {"<script> a", "<script> b"}},
		{{"./t '--x= = =' ''", "./t '=' ' '"}, {"t --x", "t =  "}},
	};
	check(pairs, sizeof pairs / sizeof *pairs);
}

static void test_names_are_short(void **state)
{
	(void)state;
	const char *long_word = "", *many = "./t";
	for (int i = 0; i < 300; i++)
		long_word = arena_format(&arena, "%sx", long_word);
	for (int i = 0; i < 900; i++)
		many = arena_format(&arena, "%s --option%d", many, i);
	const char *const lines[][2] = {
		{arena_format(&arena, "./t %s", long_word), "./t"},
		{arena_format(&arena, "./%s", long_word), arena_format(&arena, "./%s a", long_word)},
		{many, "./t"},
		{arena_format(&arena, "./t --first %.200s --second b --third c", long_word), "./t --fourth d"},
	};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct err err;
		const char *const *words[2];
		const char *names[2];
		for (int s = 0; s < 2; s++)
			assert_int_equal(command_split(lines[i][s], &arena, &words[s], &err), 0);
		command_names(words, names, &arena);
		for (int s = 0; s < 2; s++) {
			assert_true(*names[s]);
			assert_true(strlen(names[s]) < 150);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs_have_names),
		cmocka_unit_test(test_the_same_program_is_called_by_what_differs),
		cmocka_unit_test(test_the_same_file_is_called_by_its_folder),
		cmocka_unit_test(test_what_is_no_name_is_not_shown),
		cmocka_unit_test(test_names_are_short),
	};
	return cmocka_run_group_tests(tests, NULL, release_arena);
}
