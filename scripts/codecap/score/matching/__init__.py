"""How the embedded prompter finds a reference's objects in a candidate: their looks over time, their places, which is which."""
