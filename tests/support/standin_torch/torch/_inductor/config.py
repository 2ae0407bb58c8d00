fx_graph_cache = True
