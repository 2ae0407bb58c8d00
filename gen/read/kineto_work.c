#include "read/kineto.h"

#include <string.h>

enum rule {
	PRODUCT,          /* of two matrices, or of batches of them: 2 m k n */
	CONVOLUTION,      /* input, weights: as many products as the output has points, for all weights */
	CONVOLUTION_BACK, /* gradient of the output, input, weights: that again for each gradient that is asked for */
	ATTENTION,        /* query, key, value: two products */
	ATTENTION_BACK,   /* gradient of the output, and those: five */
	EACH,             /* of each point of inputs of one type, one of that type; scalars beside them */
	EACH_LONG,        /* likewise, of 32 bits and more: of 16 the output may have another type */
	COPY,             /* to the first input from the second */
	SET,              /* the first input */
	REDUCE            /* the first input along some dimensions, or along all */
};

/* The operators that launch, and where their tensors are among their inputs. */
static const struct work {
	const char *name;
	uint8_t rule, first; /* which input is the first of those */
	uint8_t dims;        /* of a product: how many sizes each has; of attention: which of them is the sequence */
	uint8_t padding, stride, dilation, transposed, mask; /* of convolutions: which inputs those are */
	uint8_t along, type; /* of what is reduced: which inputs say along which dimensions, and of which type it is */
} WORK[] = {
	{"aten::mm", PRODUCT, .dims = 2},
	{"aten::bmm", PRODUCT, .dims = 3},
	{"aten::addmm", PRODUCT, 1, .dims = 2},
	{"aten::_addmm_activation", PRODUCT, 1, .dims = 2},
	{"aten::baddbmm", PRODUCT, 1, .dims = 3},
	{"aten::_scaled_mm", PRODUCT, .dims = 2},
	{"aten::cudnn_convolution", CONVOLUTION, .padding = 2, .stride = 3, .dilation = 4},
	{"aten::miopen_convolution", CONVOLUTION, .padding = 3, .stride = 4, .dilation = 5},
	{"aten::_conv_depthwise2d", CONVOLUTION, .padding = 5, .stride = 4, .dilation = 6},
	{"aten::convolution_backward", CONVOLUTION_BACK, .transposed = 7, .mask = 10},
	{"aten::_flash_attention_forward", ATTENTION, .dims = 1},
	{"aten::_efficient_attention_forward", ATTENTION, .dims = 1},
	{"aten::_cudnn_attention_forward", ATTENTION, .dims = 2},
	{"aten::_scaled_dot_product_cudnn_attention", ATTENTION, .dims = 2},
	{"aten::_flash_attention_backward", ATTENTION_BACK, 1, .dims = 1},
	{"aten::_efficient_attention_backward", ATTENTION_BACK, 1, .dims = 1},
	{"aten::_cudnn_attention_backward", ATTENTION_BACK, 1, .dims = 2},
	{"aten::_scaled_dot_product_cudnn_attention_backward", ATTENTION_BACK, 1, .dims = 2},
	{"aten::add", .rule = EACH},
	{"aten::add_", .rule = EACH},
	{"aten::sub", .rule = EACH},
	{"aten::sub_", .rule = EACH},
	{"aten::mul", .rule = EACH},
	{"aten::mul_", .rule = EACH},
	{"aten::div", .rule = EACH},
	{"aten::div_", .rule = EACH},
	{"aten::neg", .rule = EACH},
	{"aten::abs", .rule = EACH},
	{"aten::exp", .rule = EACH},
	{"aten::sqrt", .rule = EACH},
	{"aten::rsqrt", .rule = EACH},
	{"aten::relu", .rule = EACH},
	{"aten::relu_", .rule = EACH},
	{"aten::clamp_min", .rule = EACH},
	{"aten::clamp_min_", .rule = EACH},
	{"aten::gelu", .rule = EACH},
	{"aten::silu", .rule = EACH},
	{"aten::silu_", .rule = EACH},
	{"aten::sigmoid", .rule = EACH},
	{"aten::sigmoid_", .rule = EACH},
	{"aten::tanh", .rule = EACH},
	{"aten::tanh_", .rule = EACH},
	{"aten::threshold_backward", .rule = EACH},
	{"aten::gelu_backward", .rule = EACH},
	{"aten::silu_backward", .rule = EACH},
	{"aten::sigmoid_backward", .rule = EACH},
	{"aten::tanh_backward", .rule = EACH},
	{"aten::native_layer_norm", .rule = EACH},
	{"aten::_softmax", .rule = EACH_LONG},
	{"aten::_log_softmax", .rule = EACH_LONG},
	{"aten::_softmax_backward_data", .rule = EACH_LONG},
	{"aten::_log_softmax_backward_data", .rule = EACH_LONG},
	{"aten::copy_", .rule = COPY},
	{"aten::fill_", .rule = SET},
	{"aten::zero_", .rule = SET},
	{"aten::sum", .rule = REDUCE, .along = 1, .type = 3},
	{"aten::mean", .rule = REDUCE, .along = 1, .type = 3},
	{"aten::amax", .rule = REDUCE, .along = 1},
	{"aten::amin", .rule = REDUCE, .along = 1},
	{"aten::linalg_vector_norm", .rule = REDUCE, .along = 2, .type = 4},
};

/* A product that may overflow, or have a factor that is no size; then it is not known. */
struct product {
	int64_t value;
	bool known;
};

static void times(struct product *p, int64_t factor)
{
	p->known = p->known && factor >= 0 && !__builtin_mul_overflow(p->value, factor, &p->value);
}

/* All sizes from `from` on. */
static void times_all(struct product *p, const struct kineto_input *input, int from)
{
	p->known = p->known && input->n <= KINETO_INPUT_SIZES;
	for (int d = from; d < input->n && p->known; d++)
		times(p, input->size[d]);
}

static void count_product(struct product *p, const struct kineto_input *a, const struct kineto_input *b, int dims)
{
	p->known = a->n == dims && b->n == dims && a->size[dims - 1] == b->size[dims - 2] &&
	           (dims == 2 || a->size[0] == b->size[0]);
	times_all(p, a, 0);
	times(p, b->size[dims - 1]);
}

/* Of a dimension with its window, or, of which one number is said for all, of any. */
static int64_t given(const struct kineto_event *e, int which, int dimension)
{
	const int n = e->given[which].n;
	return n == 0 || (n > 1 && dimension >= n) ? -1 : e->given[which].value[n == 1 ? 0 : dimension];
}

/* Points of one channel of what comes out. */
static void count_places(struct product *p, const struct kineto_event *e, const struct work *w)
{
	const struct kineto_input *x = &e->input[0], *weights = &e->input[1];
	p->known = p->known && x->n > 2 && x->n == weights->n && x->n <= KINETO_INPUT_SIZES;
	for (int d = 2; d < x->n && p->known; d++) {
		const int64_t padding = given(e, w->padding, d - 2), stride = given(e, w->stride, d - 2);
		const int64_t dilation = given(e, w->dilation, d - 2), size = x->size[d], window = weights->size[d];
		const int64_t most = (int64_t)1 << 31;
		p->known = padding >= 0 && stride > 0 && dilation > 0 && size >= 0 && window > 0 && padding < most &&
		           dilation < most && size < most && window < most;
		if (!p->known)
			return;
		const int64_t room = size + 2 * padding - dilation * (window - 1) - 1;
		times(p, room < 0 ? 0 : room / stride + 1);
	}
	times(p, x->size[0]);
}

static void count_convolution(struct product *p, const struct kineto_event *e, const struct work *w)
{
	p->known = true;
	count_places(p, e, w);
	times_all(p, &e->input[1], 0);
}

static void count_convolution_back(struct product *p, const struct kineto_event *e, const struct work *w)
{
	const struct kineto_input *out = &e->input[0], *x = &e->input[1], *weights = &e->input[2];
	const bool transposed = given(e, w->transposed, 0) == 1;
	p->known = out->n > 2 && out->n == weights->n && out->n == x->n && e->given[w->mask].n == 3 &&
	           given(e, w->transposed, 0) >= 0;
	times(p, out->size[0]);
	times_all(p, transposed ? x : out, 2);
	times_all(p, weights, 0);
	times(p, e->given[w->mask].value[0] + e->given[w->mask].value[1]);
}

static void count_attention(struct product *p, const struct kineto_event *e, const struct work *w)
{
	const struct kineto_input *q = &e->input[w->first], *k = q + 1, *v = q + 2;
	const int at = w->dims, heads = 3 - w->dims;
	const bool back = w->rule == ATTENTION_BACK;
	/* Several heads of the query may share a key. */
	p->known = q->n == 4 && k->n == 4 && v->n == 4 && q->size[0] == k->size[0] && q->size[0] == v->size[0] &&
	           q->size[3] == k->size[3] && k->size[at] == v->size[at] && q->size[3] >= 0 && v->size[3] >= 0 &&
	           q->size[3] < 1 << 30 && v->size[3] < 1 << 30;
	times(p, q->size[0]);
	times(p, q->size[heads]);
	times(p, q->size[at]);
	times(p, k->size[at]);
	times(p, (back ? 3 : 1) * q->size[3] + (back ? 2 : 1) * v->size[3]);
}

static const struct work *work_of(const struct kineto_event *e)
{
	const struct work *w = WORK, *end = WORK + sizeof WORK / sizeof *WORK;
	enum { PREFIX = 6 };
	if (e->name_n < PREFIX || memcmp(e->name, "aten::", PREFIX) != 0 || !e->n_inputs || e->complex)
		return NULL;
	while (w < end && !kineto_is(w->name + PREFIX, e->name + PREFIX, e->name_n - PREFIX))
		w++;
	return w < end ? w : NULL;
}

static struct product count_flops(const struct kineto_event *e, const struct work *w)
{
	static const uint8_t inputs[] = {2, 2, 3, 3, 3};
	struct product p = {.value = 2};
	if (w->rule > ATTENTION_BACK || e->n_inputs < w->first + inputs[w->rule])
		return p;
	if (w->rule == PRODUCT)
		count_product(&p, &e->input[w->first], &e->input[w->first + 1], w->dims);
	else if (w->rule == CONVOLUTION)
		count_convolution(&p, e, w);
	else if (w->rule == CONVOLUTION_BACK)
		count_convolution_back(&p, e, w);
	else
		count_attention(&p, e, w);
	return p;
}

int64_t kineto_flops(const struct kineto_event *e)
{
	const struct work *w = work_of(e);
	const struct product p = w ? count_flops(e, w) : (struct product){0};
	return p.known && p.value < (int64_t)1 << 57 ? trace_flops(p.value, (enum flop_format)e->format[w->first]) : 0;
}

/* ---- bytes ---- */

static void add(struct product *sum, struct product p, int bytes)
{
	times(&p, bytes);
	sum->known = sum->known && p.known && bytes > 0 && !__builtin_add_overflow(sum->value, p.value, &sum->value);
}

static struct product points(const struct kineto_input *input)
{
	struct product p = {1, true};
	times_all(&p, input, 0);
	return p;
}

/* Of inputs that are spread over each other: in each dimension, counted from the last, the size that is not 1. */
static struct product points_together(const struct kineto_event *e)
{
	struct product p = {1, true};
	for (int d = 1; d <= KINETO_INPUT_SIZES; d++) {
		int64_t size = 1;
		for (int i = 0; i < e->n_inputs; i++) {
			const struct kineto_input *in = &e->input[i];
			if (e->element[i] && in->n >= d && in->n <= KINETO_INPUT_SIZES && in->size[in->n - d] != 1)
				size = in->size[in->n - d];
		}
		times(&p, size);
	}
	return p;
}

/* Numbers beside tensors may have any type. */
static void count_each(struct product *sum, const struct kineto_event *e, int least)
{
	sum->known = e->element[0] >= least;
	for (int i = 0; i < e->n_inputs && sum->known; i++) {
		if (!e->element[i] || (i && !e->input[i].n))
			continue;
		sum->known = e->element[i] == e->element[0];
		add(sum, points(&e->input[i]), e->element[i]);
	}
	add(sum, points_together(e), e->element[0]);
}

/* Of products of 8 bits the output has more. */
static void count_outputs(struct product *sum, const struct kineto_event *e, const struct work *w)
{
	const struct kineto_input *a = &e->input[w->first];
	const int last = w->rule == PRODUCT ? w->dims - 1 : 3, inputs = w->rule == PRODUCT ? 2 : 3;
	sum->known = count_flops(e, w).known && e->element[w->first] > 1;
	if (!sum->known)
		return;
	struct kineto_input out = *a;
	out.size[last] = a[inputs - 1].size[last];
	for (int i = 0; i < w->first + inputs && sum->known; i++)
		add(sum, points(&e->input[i]), e->element[i]);
	add(sum, points(&out), e->element[w->first]);
}

static void count_convolved(struct product *sum, const struct kineto_event *e, const struct work *w)
{
	struct product out = {1, true};
	count_places(&out, e, w);
	times(&out, e->input[1].size[0]);
	for (int i = 0; i < 2; i++)
		add(sum, points(&e->input[i]), e->element[i]);
	add(sum, out, e->element[0]);
}

/* Either gradient is a convolution by itself, of two of the three and with the size of the third. */
static void count_gradients(struct product *sum, const struct kineto_event *e, const struct work *w)
{
	sum->known = count_flops(e, w).known;
	const int gradients = sum->known ? e->given[w->mask].value[0] + e->given[w->mask].value[1] : 0;
	for (int i = 0; i < 3; i++)
		add(sum, points(&e->input[i]), gradients * e->element[i]);
}

/* Along all dimensions where none is given. Of a type that was asked for nothing is known here. */
static void count_reduced(struct product *sum, const struct kineto_event *e, const struct work *w)
{
	const struct kineto_input *x = &e->input[0];
	const bool whole = e->n_inputs <= w->along + 1; /* sum(x, type), not sum(x, dimensions, keep, type) */
	const int n = whole ? 0 : e->given[w->along].n, type = whole ? w->along : w->type;
	struct kineto_input out = *x;
	sum->known = x->n <= KINETO_INPUT_SIZES && e->n_given >= e->n_inputs && (!type || !e->given[type].n) &&
	             (n < KINETO_GIVEN_NUMBERS || n == x->n);
	for (int i = 0; i < n && sum->known; i++) {
		const int32_t d = e->given[w->along].value[i], at = d < 0 ? d + x->n : d;
		sum->known = at >= 0 && at < x->n;
		if (sum->known)
			out.size[at] = 1;
	}
	out.n = n ? x->n : 0;
	add(sum, points(x), e->element[0]);
	add(sum, points(&out), e->element[0]);
}

int64_t kineto_moved(const struct kineto_event *e)
{
	const struct work *w = work_of(e);
	struct product sum = {0, true};
	if (!w)
		return 0;
	switch ((enum rule)w->rule) {
	case EACH:
	case EACH_LONG:
		count_each(&sum, e, w->rule == EACH ? 1 : 4);
		break;
	case PRODUCT:
	case ATTENTION:
		count_outputs(&sum, e, w);
		break;
	case CONVOLUTION:
		count_convolved(&sum, e, w);
		break;
	case CONVOLUTION_BACK:
		count_gradients(&sum, e, w);
		break;
	case REDUCE:
		count_reduced(&sum, e, w);
		break;
	case COPY:
		sum.known = e->n_inputs > 1;
		add(&sum, points(&e->input[1]), e->element[1]); /* fallthrough */
	case SET:
		add(&sum, points(&e->input[0]), e->element[0]);
		break;
	case ATTENTION_BACK:
		return 0; /* how often it reads them is its own affair */
	}
	return sum.known && sum.value < (int64_t)1 << 59 ? 1 + sum.value : 0;
}

/* ---- what else is said of inputs ---- */

static int numbers(const char *text, size_t n, int32_t *number, int most)
{
	int found = 0;
	for (size_t i = 0; i < n && found < most; i++) {
		const bool negative = text[i] == '-';
		int64_t value = 0;
		size_t from = i += negative;
		for (; i < n && text[i] >= '0' && text[i] <= '9'; i++)
			value = value < INT32_MAX / 10 ? value * 10 + (text[i] - '0') : INT32_MAX;
		if (i > from)
			number[found++] = (int32_t)(negative ? -value : value);
		else if (i < n && (text[i] == 'T' || text[i] == 'F'))
			number[found++] = text[i] == 'T';
	}
	return found;
}

bool kineto_needs_given(const char *name, size_t n)
{
	bool needs = memmem(name, n, "conv", 4) != NULL;
	const struct work *w = WORK + sizeof WORK / sizeof *WORK;
	while (!needs && (--w)->rule == REDUCE) /* they are the last ones */
		needs = kineto_is(w->name, name, n);
	return needs;
}

void kineto_note_given(struct kineto_event *e, const char *text, size_t n)
{
	if (e->n_given < KINETO_GIVEN)
		e->given[e->n_given].n = numbers(text, n, e->given[e->n_given].value, KINETO_GIVEN_NUMBERS);
	e->n_given++;
}

void kineto_note_type(struct kineto_event *e, const char *text, size_t n)
{
	static const struct {
		const char *type;
		enum flop_format format;
		int bytes;
	} types[] = {
		{"float", FLOP_OTHER, 4},      {"double", FLOP_OTHER, 8},         {"c10::Half", FLOP_16, 2},
		{"c10::BFloat16", FLOP_16, 2}, {"long int", FLOP_OTHER, 8},       {"long", FLOP_OTHER, 8},
		{"int", FLOP_OTHER, 4},        {"bool", FLOP_OTHER, 1},           {"unsigned char", FLOP_OTHER, 1},
		{"signed char", FLOP_INT8, 1}, {"c10::Float8_e4m3fn", FLOP_8, 1}, {"c10::Float8_e5m2", FLOP_8, 1},
	};
	e->complex |= memmem(text, n, "omplex", 6) != NULL;
	for (size_t i = 0; i < sizeof types / sizeof *types && e->n_types < KINETO_INPUTS; i++)
		if (kineto_is(types[i].type, text, n)) {
			e->format[e->n_types] = (uint8_t)types[i].format;
			e->element[e->n_types] = (uint8_t)types[i].bytes;
		}
	e->n_types++;
}
