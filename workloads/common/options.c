#include "options.h"

#include "status.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option long_options[] = {
	{"variant", required_argument, NULL, 'v'},
	{"steps", required_argument, NULL, 'n'},
	{"warmup", required_argument, NULL, 'w'},
	{"size", required_argument, NULL, 's'},
	{"fault-ms", required_argument, NULL, 'f'},
	{"fault-work", required_argument, NULL, 'k'},
	{"seed", required_argument, NULL, 'r'},
	{"names", required_argument, NULL, 'N'},
	{"help", no_argument, NULL, 'h'},
	{"batch", required_argument, NULL, 'b'}, /* last: workloads without batches do not have it */
	{NULL, 0, NULL, 0},
};
enum { N_OPTIONS = sizeof long_options / sizeof *long_options };

static void usage(FILE *out, const struct options *o, const struct options_text *text, const char *program)
{
	fprintf(out, "usage: %s --variant %s", program, text->variants[0]);
	for (int i = 1; text->variants[i] != NULL; i++)
		fprintf(out, "|%s", text->variants[i]);
	fprintf(out,
	        " [options]\n"
	        "  --steps N      steps, warm-up included (%d)\n"
	        "  --warmup N     leading steps left out of the timing that it prints (%d)\n"
	        "  --size N       %s (%d)\n",
	        o->steps, o->warmup, text->size_means, o->size);
	if (o->batch > 0)
		fprintf(out, "  --batch N      samples a step (%d)\n", o->batch);
	fprintf(out,
	        "  --fault-ms X   size of the fault in milliseconds a step (%g)\n"
	        "  --fault-work N the same in %s, as the program prints it: repeats a run exactly\n"
	        "  --seed N       of data and weights (%llu)\n"
	        "  --names HOW    names of the phases: plain (what they do) or neutral (a, b, c ...)\n",
	        o->fault_ms, text->work_means, (unsigned long long)o->seed);
}

static double number(const char *program, const char *name, const char *text, double low, double high)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (errno != 0 || end == text || *end != '\0' || !(value >= low && value <= high)) {
		fprintf(stderr, "%s: --%s takes a number from %g to %g, not '%s'\n", program, name, low, high, text);
		exit(EXIT_USAGE);
	}
	return value;
}

static int whole_number(const char *program, const char *name, const char *text, int low, int high)
{
	double value = number(program, name, text, low, high);

	if (value != (int)value) {
		fprintf(stderr, "%s: --%s takes a whole number, not '%s'\n", program, name, text);
		exit(EXIT_USAGE);
	}
	return (int)value;
}

static int one_of(const char *program, const char *name, const char *text, const char *const *choices)
{
	for (int i = 0; choices[i] != NULL; i++) {
		if (strcmp(text, choices[i]) == 0)
			return i;
	}
	fprintf(stderr, "%s: --%s does not know '%s'\n", program, name, text);
	exit(EXIT_USAGE);
}

void options_parse(struct options *o, const struct options_text *text, int argc, char **argv)
{
	static const char *const names[] = {"plain", "neutral", NULL};
	const struct options defaults = *o;
	struct option known[N_OPTIONS];
	bool variant = false;
	int c, i;

	memcpy(known, long_options, sizeof(known));
	if (o->batch == 0)
		known[N_OPTIONS - 2] = known[N_OPTIONS - 1];
	o->fault_work = -1;
	while ((c = getopt_long(argc, argv, "", known, &i)) != -1) {
		switch (c) {
		case 'v':
			o->variant = one_of(argv[0], "variant", optarg, text->variants);
			variant = true;
			break;
		case 'n':
			o->steps = whole_number(argv[0], "steps", optarg, 2, 1000000);
			break;
		case 'w':
			o->warmup = whole_number(argv[0], "warmup", optarg, 1, 999999);
			break;
		case 's':
			o->size = whole_number(argv[0], "size", optarg, 1, 65536);
			break;
		case 'b':
			o->batch = whole_number(argv[0], "batch", optarg, 1, 65536);
			break;
		case 'f':
			o->fault_ms = number(argv[0], "fault-ms", optarg, 0, 1000);
			break;
		case 'k':
			o->fault_work = whole_number(argv[0], "fault-work", optarg, 0, 1000000);
			break;
		case 'r':
			o->seed = (uint64_t)whole_number(argv[0], "seed", optarg, 0, 2000000000);
			break;
		case 'N':
			o->neutral_names = one_of(argv[0], "names", optarg, names) == 1;
			break;
		case 'h':
			usage(stdout, &defaults, text, argv[0]);
			exit(EXIT_SUCCESS);
		default:
			usage(stderr, &defaults, text, argv[0]);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc || !variant) {
		usage(stderr, &defaults, text, argv[0]);
		exit(EXIT_USAGE);
	}
	if (o->warmup >= o->steps) {
		fprintf(stderr, "%s: --warmup %d leaves nothing of --steps %d to measure\n", argv[0], o->warmup,
		        o->steps);
		exit(EXIT_USAGE);
	}
}
