"""How the embedded prompter finds a reference's objects in a candidate: what they look like when, where they are, which is which."""
