#include "options.h"

#include "check.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

static const struct option long_options[] = {
	{"variant", required_argument, NULL, 'v'},
	{"steps", required_argument, NULL, 'n'},
	{"warmup", required_argument, NULL, 'w'},
	{"size", required_argument, NULL, 's'},
	{"batch", required_argument, NULL, 'b'},
	{"fault-ms", required_argument, NULL, 'f'},
	{"fault-work", required_argument, NULL, 'k'},
	{"seed", required_argument, NULL, 'r'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void usage(FILE *out, const struct options *o, const char *size_means, const char *work_means,
                  const char *program)
{
	fprintf(out,
	        "usage: %s --variant baseline|fixed [options]\n"
	        "  --steps N      training steps, warm-up included (%d)\n"
	        "  --warmup N     leading steps left out of the timing that it prints (%d)\n"
	        "  --size N       %s (%d)\n"
	        "  --batch N      samples a step (%d)\n"
	        "  --fault-ms X   size of the fault in milliseconds a step (%g)\n"
	        "  --fault-work N the same in %s, as the program prints it: repeats a run exactly\n"
	        "  --seed N       of data and weights (%llu)\n",
	        program, o->steps, o->warmup, size_means, o->size, o->batch, o->fault_ms, work_means,
	        (unsigned long long)o->seed);
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

void options_parse(struct options *o, const char *size_means, const char *work_means, int argc, char **argv)
{
	const struct options defaults = *o;
	bool variant = false;
	int c, i;

	o->fault_work = -1;
	while ((c = getopt_long(argc, argv, "", long_options, &i)) != -1) {
		switch (c) {
		case 'v':
			if (strcmp(optarg, "baseline") != 0 && strcmp(optarg, "fixed") != 0) {
				fprintf(stderr, "%s: --variant is baseline or fixed, not '%s'\n", argv[0], optarg);
				exit(EXIT_USAGE);
			}
			o->fixed = strcmp(optarg, "fixed") == 0;
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
			o->fault_ms = number(argv[0], "fault-ms", optarg, 0, 10000);
			break;
		case 'k':
			o->fault_work = whole_number(argv[0], "fault-work", optarg, 0, 1000000);
			break;
		case 'r':
			o->seed = (uint64_t)whole_number(argv[0], "seed", optarg, 0, 2000000000);
			break;
		case 'h':
			usage(stdout, &defaults, size_means, work_means, argv[0]);
			exit(EXIT_SUCCESS);
		default:
			usage(stderr, &defaults, size_means, work_means, argv[0]);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc || !variant) {
		usage(stderr, &defaults, size_means, work_means, argv[0]);
		exit(EXIT_USAGE);
	}
	if (o->warmup >= o->steps) {
		fprintf(stderr, "%s: --warmup %d leaves nothing of --steps %d to measure\n", argv[0], o->warmup,
		        o->steps);
		exit(EXIT_USAGE);
	}
}
