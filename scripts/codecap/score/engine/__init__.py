"""How scoring is done, whatever is measured: metrics chosen by the config, videos decoded once, items kept in the store."""
