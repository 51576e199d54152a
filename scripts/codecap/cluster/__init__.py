"""A SLURM cluster: which nodes a job needs and how much of them, and what became of it there."""
