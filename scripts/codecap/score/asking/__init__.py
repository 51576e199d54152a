"""How a model is asked about videos: which frames it is shown, how they are laid out, what is said, how its answer is read."""
