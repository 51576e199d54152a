"""How a model is asked for a clip's annotation: what it is shown and told, how its answers are read, and asked again."""
