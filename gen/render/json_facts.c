#include "render/json.h"

#include "say/say.h"

static void write_value(struct json *json, const struct fact_param *p, const union fact_value *value,
                        const struct names *names)
{
	if (!fact_known(p->kind, value)) {
		json_null(json, p->name);
		return;
	}
	switch (p->kind) {
	case FACT_KIND_COUNT:
	case FACT_KIND_RANK:
		json_integer(json, p->name, value->count);
		break;
	case FACT_KIND_FLAG:
		json_bool(json, p->name, value->count);
		break;
	case FACT_KIND_TIME:
		json_ms(json, p->name, value->number);
		break;
	case FACT_KIND_NUMBER:
	case FACT_KIND_SHARE:
	case FACT_KIND_BYTES:
		json_number(json, p->name, value->number);
		break;
	case FACT_KIND_NAME:
		json_text(json, p->name, names_text(names, (uint32_t)value->count));
		break;
	case FACT_KIND_TEXT:
	case FACT_KIND_WORD:
	case FACT_KIND_LISTED:
		json_text(json, p->name, value->text);
		break;
	case FACT_KIND_PART:
		facts_json_one(json, p->name, value->part, names);
		break;
	case FACT_KIND_PARTS:
		facts_json(json, p->name, value->parts, names);
		break;
	}
}

void facts_json_params(struct json *json, const char *key, const struct fact *fact, const struct names *names)
{
	const struct fact_info *info = &fact_info[fact->id];
	json_object(json, key);
	for (uint32_t i = 0; i < info->n; i++)
		write_value(json, &info->param[i], &fact->value[i], names);
	json_end_object(json);
}

void facts_json_one(struct json *json, const char *key, const struct fact *fact, const struct names *names)
{
	ARENA_LOCAL(arena);
	if (!json_maybe(json, key, fact))
		return;
	const struct fact_info *info = &fact_info[fact->id];
	json_text(json, "id", info->id);
	json_text(json, "severity", fact_severity_name(info->severity));
	json_text(json, "side", fact_side_name(fact->side));
	facts_json_params(json, "params", fact, names);
	json_text(json, "text", say_fact(fact, names, &arena));
	json_end_object(json);
}

void facts_json_text(struct json *json, const char *key, const struct fact *fact, const struct names *names)
{
	ARENA_LOCAL(arena);
	json_text(json, key, say_fact(fact, names, &arena));
}

void facts_json(struct json *json, const char *key, const struct facts *facts, const struct names *names)
{
	for (uint32_t i = json_list(json, key); json_more(json, i < facts->n); i++)
		facts_json_one(json, NULL, facts->list[i], names);
}
