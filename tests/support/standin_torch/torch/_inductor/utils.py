def aggregate_origins(schedule):
    return schedule
